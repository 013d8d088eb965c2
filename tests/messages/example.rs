//! What differs from run to run, in the words of one example: Ana's machine ws-1, a quarter past two. So the table can be read as
//! people read it.
#![forbid(unsafe_code)]

use std::sync::LazyLock;

use regex::Regex;

use crate::world::World;

/// Pattern and what stands in its place, in this order.
const EXAMPLES: &[(&str, &str)] = &[
    (r"\([^()\s]+@@HOST@(, [^()]+)?\)", "(claude@ws-1$1)"),
    ("@HOST@", "ws-1"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-07-01 14:02:11"),
    (r"\b\d\d:\d\d:\d\d\b", "14:02:11"),
    // What is left of a TTL, and of the five minutes that a lease is kept.
    (r"\b(2[5-9]|30) min\b", "29 min"),
    (r"\b(1?19 min|1?20 min|2 h)\b", "119 min"),
    (r"\b(completed|failed|stolen|expired)( +)\d+ m?s\b", "$1  1 s"),
    (r"\b[3-5] min\b", "4 min"),
    (r"\b\d+ s ago\b", "2 s ago"),
    (r"\b\d{13}\b", "1782914531000"),
    (
        r"\b(LOCKED_SESSION=|LOCKED_LEASE=|local/|store )[0-9a-f]{8}-[0-9a-f-]{27}\b",
        "${1}3f2a91c0-5d1e-4c6b-9a7f-0c2b6d1e8f43",
    ),
    (r"\bprocess \d+\b", "process 4711"),
    (r"\b[0-9a-f]{40}\b", "8c1d1f0e5b6a7c3d2e4f5a6b7c8d9e0f1a2b3c4d"),
    (r"(?m)(^|[ (])[0-9a-f]{12}\b", "${1}8c1d1f0e5b6a"),
    (r"\bage1[0-9a-z]{58}\b", "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"),
    (r"[ \t]+\n", "\n"),
];

static PATTERNS: LazyLock<Vec<(Regex, &str)>> =
    LazyLock::new(|| EXAMPLES.iter().map(|(pattern, with)| (Regex::new(pattern).expect("a pattern"), *with)).collect());

/// The same text on Ana's machine.
pub(super) fn as_on_anas_machine(world: &World, said: &str) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("host");
    let root = world.root().canonicalize().expect("root");
    let mut text = said.to_owned();
    for (here, there) in [
        (env!("CARGO_BIN_EXE_locked"), "/usr/local/bin/locked"),
        (crate::world::real_sops().to_str().expect("UTF-8"), "/usr/local/bin/sops"),
        (root.join("work").to_str().expect("UTF-8"), "/home/ana/infra"),
        (world.work().to_str().expect("UTF-8"), "/home/ana/infra"),
        (root.to_str().expect("UTF-8"), "/home/ana"),
        (world.root().to_str().expect("UTF-8"), "/home/ana"),
        (host.trim(), "@HOST@"),
    ] {
        text = text.replace(here, there);
    }
    for (pattern, with) in PATTERNS.iter() {
        text = pattern.replace_all(&text, *with).into_owned();
    }
    aligned(&text)
}

/// Columns of a table as wide as what stands in them now.
fn aligned(text: &str) -> String {
    let cells = |line: &str| -> Option<Vec<String>> {
        let cells: Vec<String> = line.split("  ").map(|cell| cell.trim().to_owned()).collect();
        let cells: Vec<String> = cells.into_iter().filter(|cell| !cell.is_empty()).collect();
        (cells.len() > 3 && !line.starts_with(' ')).then_some(cells)
    };
    let rows: Vec<Option<Vec<String>>> = text.split('\n').map(cells).collect();
    let mut widths = [0; 16];
    for row in rows.iter().flatten() {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let lines = text.split('\n').zip(rows).map(|(line, row)| match row {
        None => line.to_owned(),
        Some(row) => {
            let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
