//! The patches of Codex: which files, and what comes into each.
//!
//! The form is that of `apply_patch_tool_instructions.md` in its repository: `*** Add File: PATH`, `*** Update File: PATH`
//! (with `*** Move to: PATH` behind it) and `*** Delete File: PATH`; new lines begin with `+`.
#![forbid(unsafe_code)]

use super::input::{Brings, Touch};

/// The files of a patch, in its order. What stands before the first header is nobody's.
pub fn files(patch: &str) -> Vec<Touch> {
    let mut files: Vec<Touch> = Vec::new();
    for line in patch.lines() {
        // Codex reads headers without the blanks around them.
        let header = |word: &str| line.trim().strip_prefix(word).map(|path| path.trim().into());
        let touch = |path, brings| Touch { path, brings };
        if let Some(path) = header("*** Add File:") {
            files.push(touch(path, Brings::Whole(String::new())));
        } else if let Some(path) = header("*** Update File:") {
            files.push(touch(path, Brings::Part(String::new())));
        } else if let Some(path) = header("*** Delete File:") {
            files.push(touch(path, Brings::Nothing));
        } else if let Some(path) = header("*** Move to:") {
            // What was there goes away, and all of it comes to the other place.
            let moved = files.last_mut().map(|from| std::mem::replace(&mut from.brings, Brings::Nothing));
            files.push(touch(path, moved.unwrap_or(Brings::Part(String::new()))));
        } else if let Some(added) = line.strip_prefix('+')
            && let Some(Touch { brings: Brings::Whole(text) | Brings::Part(text), .. }) = files.last_mut()
        {
            text.push_str(added);
            text.push('\n');
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_told_with_what_comes_into_it() {
        let patch = "*** Begin Patch\n*** Add File: a/new.txt\n+one\n+two\n  *** Update File: b.txt \n@@ fn x\n-old\n+new\n*** \
                     Update File: c.txt\n*** Move to: d.txt\n@@\n+moved\n *** Delete File:  e.txt\n*** End Patch\n";
        let files: Vec<(String, Option<String>)> = files(patch)
            .into_iter()
            .map(|touch| {
                let text = match touch.brings {
                    Brings::Whole(text) => Some(format!("all: {text}")),
                    Brings::Part(text) => Some(text),
                    Brings::Nothing => None,
                };
                (touch.path.display().to_string(), text)
            })
            .collect();
        let table = [
            ("a/new.txt", Some("all: one\ntwo\n")),
            ("b.txt", Some("new\n")),
            ("c.txt", None),
            ("d.txt", Some("moved\n")),
            ("e.txt", None),
        ];
        let expected = table.map(|(path, text)| (path.to_owned(), text.map(str::to_owned)));
        assert_eq!(files, expected);
    }
}
