//! What may be a project's name, and what becomes of other texts.
#![forbid(unsafe_code)]

/// A text as version 2 makes a name of it: lower case, only `a`–`z`, `0`–`9`, `_` and `-`, none of the last two in
/// front (`loader.NormalizeProjectName`).
pub(super) fn normalised(text: &str) -> String {
    legacy(text).trim_start_matches(['_', '-']).to_owned()
}

/// The same of version 1 (`get_project_name`, 1.29), which lets `_` and `-` stand in front.
pub(super) fn legacy(text: &str) -> String {
    text.to_lowercase().chars().filter(|&character| is_part(character)).collect()
}

/// Could the engine bear this as the label of a project?
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part)
}

fn is_part(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '_' | '-')
}
