//! What the keeper has to say, for a listener that may be frozen: nothing waits for it, and nothing is lost to it.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use super::link::{Link, Tale};

/// Tales that could not be told yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Outbox(VecDeque<Tale>);

impl Outbox {
    /// While something waits to be told, it is tried this often. (Only a frozen listener makes us wait.)
    pub(super) const AGAIN: Duration = Duration::from_millis(20);

    /// Tells it, or keeps it for later. Of renews only the last matters.
    pub(super) fn say(&mut self, link: &Link, tale: Tale) -> io::Result<()> {
        if matches!(tale, Tale::Renewed { .. }) {
            self.0.retain(|waiting| !matches!(waiting, Tale::Renewed { .. }));
        }
        self.0.push_back(tale);
        self.flush(link)
    }

    /// Tells what waits, as far as the listener takes it.
    pub(super) fn flush(&mut self, link: &Link) -> io::Result<()> {
        while let Some(tale) = self.0.front() {
            match link.say(tale) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                told => told?,
            }
            self.0.pop_front();
        }
        Ok(())
    }

    /// Everything was told.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::Heard;
    use super::*;

    fn heard(link: &Link) -> Option<Tale> {
        match link.hear(Some(Duration::ZERO)).expect("hear") {
            Some(Heard::Said(tale)) => Some(tale),
            _ => None,
        }
    }

    #[test]
    fn a_listener_that_does_not_listen_stops_nobody_and_hears_the_last_renew_and_the_end() {
        let (ours, theirs) = Link::pair().expect("pair");
        let mut outbox = Outbox::default();
        let mut sent = 0;
        while outbox.is_empty() {
            outbox.say(&ours, Tale::Renewed { sent, lasts: 1 }).expect("never waits");
            sent += 1;
            assert!(sent < 100_000, "the socket takes packets without end");
        }
        outbox.say(&ours, Tale::Renewed { sent: u64::MAX, lasts: 1 }).expect("never waits");
        outbox.say(&ours, Tale::Stopping).expect("never waits");
        let mut last = None;
        let mut told = Vec::new();
        loop {
            match heard(&theirs) {
                Some(Tale::Renewed { sent, .. }) => last = Some(sent),
                Some(other) => told.push(other),
                None if outbox.is_empty() => break,
                None => outbox.flush(&ours).expect("flush"),
            }
        }
        assert_eq!(last, Some(u64::MAX));
        assert!(matches!(told[..], [Tale::Stopping]), "{told:?}");
    }
}
