//! The laws of what others tell us in a few words: agents before they use a tool, people on the command line, stores in a name.
//! What is read and printed is read as it was; what may be a secret is told nobody.

use std::time::Duration;

use locked::agents::{Call, files_of_patch};
use locked::terms::{
    Issue, ResourceName, parse_duration, percent_decode, percent_encode, said, said_somehow, show_duration, shows,
    shows_as_itself, without_secrets,
};

use super::input::Input;

const SECRET: &str = "hunter2-told";
/// Signs that mean something in JSON, in a patch or in a line, and some that mean nothing. No letter of [`SECRET`]'s end.
const SIGNS: &str = "\"\\{}[]:,'= \n*+-@/.;$(ab0é\u{202e}\u{1b}";
const TOOLS: [&str; 7] = ["Bash", "Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch", "mcp__files__put"];

/// The laws hold for these bytes, as they are and as choices of what to tell.
pub(crate) fn hold(bytes: &[u8]) {
    let _call = Call::read(bytes);
    names(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        patches(text);
        lines(text);
        values(text);
    }
    what_an_agent_is_about_to_do_is_not_shown(&mut Input::new(bytes));
    an_assignment_is_hidden_wherever_it_stands(&mut Input::new(bytes));
}

fn names(bytes: &[u8]) {
    assert_eq!(percent_decode(&percent_encode(bytes)), bytes, "what is encoded is decoded");
    let made = ResourceName::of("sops", bytes);
    let read = ResourceName::parse(bytes);
    for name in [Ok(made), read].into_iter().flatten().filter(|name| name.as_str() != "sops:") {
        assert!(name.as_str().len() <= ResourceName::MAX && name.as_str().chars().all(shows_as_itself), "{name}");
        assert_eq!(ResourceName::parse(name.as_str().as_bytes()).as_ref(), Ok(&name), "a name is itself");
    }
}

fn patches(text: &str) {
    let files = files_of_patch(text);
    assert!(files.len() <= 2 * text.lines().count(), "more files than lines");
    for file in files {
        assert!(text.contains(&*file.path.to_string_lossy()), "a file of no line: {}", file.path.display());
    }
}

fn lines(text: &str) {
    let told = without_secrets(text);
    assert_eq!(without_secrets(&told), told, "what is hidden is hidden once: {text:?}");
    for line in [said(text).ok(), Some(said_somehow(text))].into_iter().flatten() {
        assert!(line.chars().all(shows) && line.chars().count() <= 200, "{line:?}");
    }
}

fn values(text: &str) {
    if let Ok(issue) = text.parse::<Issue>() {
        assert_eq!(issue.to_string().parse(), Ok(issue));
    }
    if let Ok(span) = parse_duration(text) {
        let shown = show_duration(span);
        let again = parse_duration(&shown).unwrap_or_else(|error| panic!("{text} is shown as {shown}: {error}"));
        assert!(span.abs_diff(again) < Duration::from_millis(1), "{text} is shown as {shown}");
    }
}

fn what_an_agent_is_about_to_do_is_not_shown(input: &mut Input<'_>) {
    let quoted = |text: String| serde_json::Value::from(text).to_string();
    let texts = [0; 3].map(|_| quoted(format!("{}{SECRET}{}", input.text(6, SIGNS), input.text(6, SIGNS))));
    let keys = ["command", "content", "new_string", "new_source", "file_text", "input"];
    let [one, two, three] = texts;
    let told = format!(
        "{{\"hook_event_name\": \"PreToolUse\", \"tool_name\": \"{}\", \"tool_input\": {{\"file_path\": \"/a\", \
         \"notebook_path\": \"/b\", \"{}\": {one}, \"{}\": {two}, \"edits\": [{{\"new_string\": {three}}}]}}}}",
        input.pick(&TOOLS),
        input.pick(&keys),
        input.pick(&keys),
    );
    let shown = match Call::read(told.as_bytes()) {
        Ok(call) => format!("{call:?}"),
        Err(error) => format!("{error} {error:?}"),
    };
    assert!(!shown.contains(SECRET), "{told}: {shown}");
}

fn an_assignment_is_hidden_wherever_it_stands(input: &mut Input<'_>) {
    let (before, after) = (input.text(8, SIGNS), input.text(8, SIGNS));
    let name = input.pick(&["KEY", "--password", "a.b", "x-y"]);
    let text = format!("{before} {name}={SECRET} {after}");
    assert!(!without_secrets(&text).contains(SECRET), "{text:?}");
    assert!(!said_somehow(&text).contains(SECRET), "{text:?}");
}
