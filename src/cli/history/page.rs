//! The timeline as one page of HTML: an SVG and a table of the same, no scripts, nothing from elsewhere. Holders are told
//! apart by pattern and letter, so that it reads without colour.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use crate::report::{clock_time, day_and_time, rough_span};

use super::lanes::{Bar, Lanes, MARKS, letter};
use super::timeline::{counted, cut};

const STYLE: &str = include_str!("page.css");
const PATTERNS: &str = include_str!("page.svg");
/// So many patterns there are.
const KINDS: usize = 8;
/// Sizes in the drawing's units.
const LEFT: u32 = 260;
const WIDTH: u32 = 900;
const ROW: u32 = 30;
const TOP: u32 = 34;

/// The page; nothing but its table says when nothing was held.
pub(super) fn page(lanes: Option<&Lanes>, now: i64) -> String {
    let mut body = format!("<h1>Who held what, when</h1>\n<p>Made by locked at {}.", escaped(&day_and_time(now)));
    match lanes {
        None => body.push_str(" No lease was found.</p>\n"),
        Some(lanes) => {
            let leases: usize = lanes.lanes.iter().map(|(_, bars)| bars.len()).sum();
            let (from, to) = (escaped(&day_and_time(lanes.from)), escaped(&day_and_time(lanes.to)));
            let _infallible = writeln!(body, " {} from {from} to {to}, local time.</p>", counted(leases));
            drawing(&mut body, lanes);
            legend(&mut body, lanes);
            table(&mut body, lanes);
        }
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Who held what, when</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

fn drawing(body: &mut String, lanes: &Lanes) {
    let height = TOP + ROW * u32::try_from(lanes.lanes.len()).unwrap_or(u32::MAX / ROW / 2) + 10;
    let _infallible = writeln!(
        body,
        "<div class=\"wide\"><svg viewBox=\"0 0 {} {height}\" role=\"img\" aria-labelledby=\"drawn\">\n\
         <title id=\"drawn\">Leases over time, one lane for each resource. The table below says the same.</title>\n{PATTERNS}",
        LEFT + WIDTH + 40
    );
    for tick in 0..=6 {
        let x = LEFT + WIDTH * tick / 6;
        let moment = lanes.from + (lanes.to - lanes.from) / 6 * i64::from(tick);
        let _infallible = writeln!(
            body,
            "<line class=\"tick\" x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{height}\"/><text class=\"time\" x=\"{x}\" y=\"18\">{}</text>",
            TOP - 10,
            escaped(&clock_time(moment))
        );
    }
    for (row, (title, bars)) in lanes.lanes.iter().enumerate() {
        let y = TOP + ROW * u32::try_from(row).unwrap_or(0);
        let short = cut(title, 30);
        let _infallible = writeln!(
            body,
            "<g><title>{}</title><text class=\"lane\" x=\"{}\" y=\"{}\">{}</text></g>",
            escaped(title),
            LEFT - 10,
            y + 18,
            escaped(&short)
        );
        bars.iter().for_each(|each| bar(body, lanes, each, y));
    }
    body.push_str("</svg></div>\n");
}

fn bar(body: &mut String, lanes: &Lanes, bar: &Bar, y: u32) {
    let from = LEFT + lanes.place(bar.from, WIDTH);
    let to = LEFT + lanes.place(bar.to, WIDTH);
    let wide = (to - from).max(3);
    let holder = lanes.holders.get(bar.holder).map_or("", String::as_str);
    let _infallible = writeln!(
        body,
        "<g class=\"bar {}\"><title>{}: {}, {} to {}, {}</title>\
         <rect x=\"{from}\" y=\"{}\" width=\"{wide}\" height=\"22\" rx=\"2\" fill=\"url(#p{})\"/>",
        escaped(&bar.word),
        letter(bar.holder),
        escaped(&format!("{holder}, {}", bar.operation)),
        escaped(&day_and_time(bar.from)),
        if bar.ended_as.is_some() { escaped(&day_and_time(bar.to)) } else { "now".to_owned() },
        escaped(&bar.word),
        y + 3,
        bar.holder % KINDS
    );
    // A bar that is too narrow for its letter is told by the table.
    if wide >= 16 {
        let mark =
            if wide >= 30 { format!("{} {}", letter(bar.holder), bar.mark()) } else { letter(bar.holder).to_string() };
        let _infallible =
            writeln!(body, "<text class=\"sign\" x=\"{}\" y=\"{}\">{}</text>", from + wide / 2, y + 19, escaped(&mark));
    }
    body.push_str("</g>\n");
}

fn legend(body: &mut String, lanes: &Lanes) {
    body.push_str("<h2>Holders</h2>\n<ul class=\"holders\">\n");
    for (number, holder) in lanes.holders.iter().enumerate() {
        let _infallible = writeln!(
            body,
            "<li><svg class=\"swatch\" viewBox=\"0 0 28 20\" aria-hidden=\"true\"><rect x=\"1\" y=\"1\" width=\"26\" height=\"18\" \
             fill=\"url(#p{})\"/></svg><b>{}</b> {}, {}</li>",
            number % KINDS,
            letter(number),
            escaped(holder),
            counted(lanes.count(number))
        );
    }
    let marks = MARKS.map(|(mark, word)| format!("<b>{}</b> {word}", escaped(&mark.to_string())));
    let _infallible = writeln!(body, "</ul>\n<p>The sign behind a letter says how it ended: {}.</p>", marks.join(", "));
}

fn table(body: &mut String, lanes: &Lanes) {
    let head = ["Resource", "Holder", "From", "To", "Held", "How", "Operation", "Note", "Receipt"];
    body.push_str("<h2>Leases</h2>\n<div class=\"wide\"><table>\n<thead><tr>");
    head.iter().for_each(|cell| body.push_str(&format!("<th scope=\"col\">{cell}</th>")));
    body.push_str("</tr></thead>\n<tbody>\n");
    for (title, each) in lanes.lanes.iter().flat_map(|(title, bars)| bars.iter().map(move |bar| (title, bar))) {
        let held = u64::try_from(each.to - each.from).unwrap_or_default();
        let holder = lanes.holders.get(each.holder).map_or("", String::as_str);
        let cells = [
            format!("{} {holder}", letter(each.holder)),
            day_and_time(each.from),
            if each.ended_as.is_some() { day_and_time(each.to) } else { "now".to_owned() },
            if held < 1_000 { format!("{held} ms") } else { rough_span(std::time::Duration::from_millis(held)) },
            each.word.clone(),
            each.operation.clone(),
            each.note.clone().unwrap_or_default(),
            each.receipt.as_deref().unwrap_or_default().chars().take(12).collect(),
        ];
        let _infallible = write!(body, "<tr><th scope=\"row\">{}</th>", escaped(title));
        cells.iter().for_each(|cell| body.push_str(&format!("<td>{}</td>", escaped(cell))));
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody>\n</table></div>\n");
}

/// Text for an element or a quoted attribute: nothing in it can end either.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests;
