//! `locked status --watch`: the board, again and again. A terminal is redrawn; elsewhere whoever reads gets a new block
//! whenever something has changed, so that a log of it stays short. Ctrl-C ends it as it ends any program.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::exit::Exit;
use crate::report::clock_time;
use crate::run::Context;
use crate::store::StoreError;

use super::out;
use super::status::{Board, Place};
use super::verbs::Status;
use super::world::down;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);

/// Home, and clear from there; what scrolled away before is left alone.
const REDRAW: &str = "\x1b[H\x1b[2J";

pub(super) fn watch(context: &Context, verb: &Status) -> Exit {
    let (place, mut store) = match Place::open(context) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let redraws = out::is_terminal() && !verb.json;
    let mut before: Option<String> = None;
    loop {
        let looked = Board::look(context, verb, &place, store.as_mut());
        match looked {
            // Who begins with a store that does not answer is told so; later it may come back.
            Err(error) if before.is_none() => return down(&error),
            looked => {
                let (essence, block) = block(&looked, context, verb, redraws);
                let is_news = before.as_ref() != Some(&essence);
                before = Some(essence);
                if (redraws || is_news)
                    && let Err(exit) = out::write(block.as_bytes())
                {
                    return exit;
                }
            }
        }
        rest();
    }
}

/// What decides whether it is news, and what is shown.
fn block(looked: &Result<Board, StoreError>, context: &Context, verb: &Status, redraws: bool) -> (String, String) {
    let now = clock_time(crate::clock::Clock::wall_ms(context.clock.as_ref()));
    match looked {
        Ok(board) => {
            let rows = || board.rows(&verb.resources);
            let text = match verb.json {
                true => format!("{}\n", board.objects(context)),
                false if redraws => format!("{REDRAW}{now}\n{}\n", rows()),
                false => format!("{now}\n{}\n\n", rows()),
            };
            (board.essence(verb), text)
        }
        Err(error) => {
            let text = match verb.json {
                true => format!("{}\n", serde_json::json!({"error": error.to_string()})),
                false if redraws => format!("{REDRAW}{now}\n{error}\n"),
                false => format!("{now}\n{error}\n\n"),
            };
            (format!("down: {error}"), text)
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a look each second; no store tells everybody what changed")]
fn rest() {
    std::thread::sleep(PAUSE);
}
