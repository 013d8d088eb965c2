//! What differs from run to run, masked.
#![forbid(unsafe_code)]

use crate::run::stage::Stage;

/// `14:02:11` → `HH:MM:SS`; the label of the holder → `LABEL`; the world's root → `ROOT`; the host → `HOST`.
pub(crate) fn masked(stage: &Stage, said: &str) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("host");
    let mut text = said.replace(stage.world.root().to_str().expect("UTF-8"), "ROOT").replace(host.trim(), "HOST");
    while let Some(at) = label(&text) {
        text.replace_range(at, "LABEL");
    }
    let bytes: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let is_time = bytes[at..].len() >= 8
            && bytes[at..at + 8].iter().enumerate().all(|(index, c)| match index {
                2 | 5 => *c == ':',
                _ => c.is_ascii_digit(),
            });
        out.push_str(if is_time { "HH:MM:SS" } else { "" });
        if !is_time {
            out.push(bytes[at]);
        }
        at += if is_time { 8 } else { 1 };
    }
    out
}

/// `(program@HOST)`: what stands between the brackets.
fn label(text: &str) -> Option<std::ops::Range<usize>> {
    let end = text.find("@HOST)")? + "@HOST".len();
    let start = text[..end].rfind('(')? + 1;
    Some(start..end)
}
