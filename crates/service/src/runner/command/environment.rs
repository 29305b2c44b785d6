//! The environment variables that a program inherits from the service.

use std::ffi::OsString;

/// The environment variables that every program inherits. Others may be secrets of the service, of another model or
/// of the operator.
const ALWAYS_INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    #[cfg(windows)]
    "SystemRoot",
];

/// Returns the environment variables that a program inherits; `named` are those of its entry in the models file.
pub fn inherited(named: &[String]) -> impl Iterator<Item = (&str, OsString)> {
    let named = named.iter().map(String::as_str);
    let names = ALWAYS_INHERITED.iter().copied().chain(named);
    names.filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// Returns a warning for each name that is missing in the service's environment.
pub fn warnings(named: &[String]) -> Vec<String> {
    let unset = named.iter().filter(|name| std::env::var_os(name).is_none());
    let messages = unset.map(|name| {
        format!(
            "environment: {name} is not set where the service runs, so the program does not get it; set it, or \
             remove the name"
        )
    });
    messages.collect()
}
