//! The timeline in a terminal: plain characters, so that it reads without colour and in any log.
#![forbid(unsafe_code)]

use crate::report::{clock_time, day_and_time};

use super::lanes::{Bar, Lanes, MARKS, letter};

/// The widest title of a lane.
const TITLE: usize = 36;

/// The timeline over so many columns.
pub(super) fn timeline(lanes: &Lanes, columns: u32) -> String {
    let titles: Vec<String> = lanes.lanes.iter().map(|(title, _)| cut(title, TITLE)).collect();
    let wide = titles.iter().map(|title| title.chars().count()).max().unwrap_or_default();
    let width = columns.saturating_sub(u32::try_from(wide).unwrap_or(0) + 2).max(20);
    let mut lines =
        vec![format!("{} to {}", day_and_time(lanes.from), day_and_time(lanes.to)), axis(lanes, wide, width)];
    for (title, (_, bars)) in titles.iter().zip(&lanes.lanes) {
        lines.push(format!("{title:wide$}  {}", lane(lanes, bars, width)).trim_end().to_owned());
    }
    lines.push(String::new());
    for (number, holder) in lanes.holders.iter().enumerate() {
        lines.push(format!("{} {holder}, {}", letter(number), counted(lanes.count(number))));
    }
    let marks = MARKS.map(|(mark, word)| format!("{mark} {word}"));
    lines.push(format!("ends: {}; # several in one place", marks.join(", ")));
    lines.join("\n")
}

pub(super) fn counted(leases: usize) -> String {
    if leases == 1 { "one lease".to_owned() } else { format!("{leases} leases") }
}

/// At most so many characters, with a mark that something is missing.
pub(super) fn cut(title: &str, longest: usize) -> String {
    if title.chars().count() <= longest {
        return title.to_owned();
    }
    title.chars().take(longest - 1).chain(['…']).collect()
}

/// A clock time every twenty columns or so.
fn axis(lanes: &Lanes, wide: usize, width: u32) -> String {
    let mut line = " ".repeat(wide + 2);
    let step = 20;
    let mut at = 0;
    while at + 8 <= width {
        let moment = lanes.from
            + i64::try_from(i128::from(lanes.to - lanes.from) * i128::from(at) / i128::from(width)).unwrap_or(0);
        line.push_str(&format!("{:step$}", format!("|{}", clock_time(moment)), step = step as usize));
        at += step;
    }
    line.trim_end().to_owned()
}

fn lane(lanes: &Lanes, bars: &[Bar], width: u32) -> String {
    let mut cells = vec![' '; width as usize];
    for bar in bars {
        let from = lanes.place(bar.from, width).min(width - 1) as usize;
        let to = (lanes.place(bar.to, width).min(width - 1) as usize).max(from);
        let sign = letter(bar.holder);
        for (at, cell) in cells.iter_mut().enumerate().take(to + 1).skip(from) {
            let own = if at == to && to > from { bar.mark() } else { sign };
            *cell = if *cell == ' ' { own } else { '#' };
        }
    }
    cells.into_iter().collect()
}
