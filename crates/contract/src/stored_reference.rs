/// What stands in a reference between its type and the name of its file.
pub const STORED_MARK: &str = ";stored=";

/// The name of the file that a reference of a page stands for (`data:image/png;stored=NAME,`): the page has stored an output that
/// came as data. To anybody else it says nothing, and it is never sent. `None` for what is no reference.
pub fn stored_name(url: &str) -> Option<&str> {
    let (start, name) = url.strip_suffix(',')?.rsplit_once(STORED_MARK)?;
    let is_of_name = |c: char| c.is_ascii_hexdigit() || c == '-';
    let is_reference = start.starts_with("data:") && name.chars().all(is_of_name);
    is_reference.then_some(name)
}
