//! The environment of a program: what it gets of the service's own.

use std::ffi::OsString;

/// The environment variables of the service that every program gets. Any other may be a secret of the service,
/// of another model or of its operator.
const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    #[cfg(windows)]
    "SystemRoot",
];

/// Returns the variables of the service's environment that a program gets; `named` are those of its entry in the
/// models file.
pub fn passed_on(named: &[String]) -> impl Iterator<Item = (&str, OsString)> {
    let named = named.iter().map(String::as_str);
    let names = PASSED_ON.iter().copied().chain(named);
    names.filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// Warns about each name that the service's environment does not have.
pub fn warnings(named: &[String]) -> Vec<String> {
    let unset = named.iter().filter(|name| std::env::var_os(name).is_none());
    let words = unset.map(|name| {
        format!(
            "environment: {name} is not set where the service runs, so the program does not get it; set it, or \
             remove the name"
        )
    });
    words.collect()
}
