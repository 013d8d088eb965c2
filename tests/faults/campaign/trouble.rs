//! Blows: to the processes of a run, and to the store and the ways to it.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use super::arena::FILES;
use super::fault::Fault;
use super::hand::Hand;
use super::ledger::Ledger;
use crate::world::processes::{children, freeze, kill, thaw};

/// What the store has to bear at the moment.
pub(crate) enum Trouble {
    /// The lock on its file is in this hand.
    Frozen(rusqlite::Connection),
    Down,
    Wire,
    Full,
}

impl Hand<'_> {
    /// Deals a blow; false if there was nobody to take it.
    pub(crate) fn deals(&mut self, blow: Fault) -> bool {
        match blow {
            Fault::StoreFrozen
            | Fault::StoreRestart
            | Fault::PacketsLost
            | Fault::PacketsLate
            | Fault::WireCut
            | Fault::DiskFull => self.troubles(blow),
            Fault::BackendsEnded => self.ends_backends(),
            Fault::CorruptedOutside => self.corrupts(),
            _ => self.strikes(blow),
        }
    }

    fn strikes(&mut self, blow: Fault) -> bool {
        if self.holders.is_empty() {
            return false;
        }
        let at = self.random.below(self.holders.len());
        let holder = &self.holders[at];
        let (wrapper, keeper, is_hurt) = (holder.run.wrapper(), holder.run.keeper_now(), holder.is_hurt);
        let child = keeper.and_then(|keeper| children(keeper).first().copied());
        let target = match blow {
            Fault::KillChild | Fault::FreezeChild => child,
            _ if is_hurt => None,
            Fault::KillKeeper | Fault::FreezeKeeper => keeper,
            _ => Some(wrapper),
        };
        let Some(target) = target else { return false };
        let is_dealt = match blow {
            Fault::FreezeWrapper | Fault::FreezeKeeper | Fault::FreezeChild => self.freezes(target),
            Fault::KillBoth => {
                kill(wrapper);
                keeper.into_iter().for_each(kill);
                true
            }
            _ => {
                kill(target);
                true
            }
        };
        if is_dealt {
            self.holders[at].is_hurt |= !matches!(blow, Fault::KillChild | Fault::FreezeChild);
            self.arena.say("hurt", &self.holders[at].who, "-", &format!("{blow:?}"));
        }
        is_dealt
    }

    /// Past every TTL, more often than not. Whoever has the embedded store's file at that moment is let go: its lock
    /// would be frozen with it, for everybody.
    fn freezes(&mut self, pid: u32) -> bool {
        freeze(pid);
        if let Ledger::Embedded(file) = &self.arena.ledger {
            let is_outside = rusqlite::Connection::open(file)
                .and_then(|store| {
                    store.busy_timeout(Duration::ZERO)?;
                    store.execute_batch("begin immediate; rollback")
                })
                .is_ok();
            if !is_outside {
                thaw(pid);
                return false;
            }
        }
        let until = Instant::now() + self.span(300, 7_000);
        self.frozen.push((pid, until));
        true
    }

    fn span(&mut self, from: usize, to: usize) -> Duration {
        Duration::from_millis((from + self.random.below(to - from)) as u64)
    }

    fn troubles(&mut self, blow: Fault) -> bool {
        if self.trouble.is_some() {
            return false;
        }
        self.arena.say("outage", "-", "-", &format!("{blow:?}"));
        let trouble = match (blow, &self.arena.ledger) {
            (Fault::StoreFrozen, Ledger::Embedded(file)) => {
                let store = rusqlite::Connection::open(file).expect("open");
                let taken = store.execute_batch("begin exclusive");
                taken.is_ok().then_some(Trouble::Frozen(store))
            }
            (Fault::StoreRestart, _) => {
                let how = self.random.pick(&["fast", "immediate"]);
                self.arena.server.as_ref().expect("possible").stop(how);
                Some(Trouble::Down)
            }
            (Fault::DiskFull, _) => {
                self.arena.disk.as_ref().expect("possible").fill();
                Some(Trouble::Full)
            }
            _ => {
                let wire = self.arena.wire.as_ref().expect("possible");
                let _known_to_work = match blow {
                    Fault::PacketsLost => wire.lose_some(),
                    Fault::PacketsLate => wire.delay(),
                    _ => {
                        wire.cut();
                        true
                    }
                };
                Some(Trouble::Wire)
            }
        };
        let Some(trouble) = trouble else {
            self.arena.say("mended", "-", "-", "-");
            return false;
        };
        let span = self.span(100, 3_000);
        self.trouble = Some((trouble, Instant::now() + span));
        true
    }

    pub(crate) fn mends(&mut self) {
        let Some((trouble, _)) = self.trouble.take() else { return };
        match trouble {
            Trouble::Frozen(store) => drop(store),
            Trouble::Down => self.arena.server.as_ref().expect("it was stopped").go_on(),
            Trouble::Wire => self.arena.wire.as_ref().expect("it was cut").mend(),
            Trouble::Full => self.arena.disk.as_ref().expect("it was filled").make_room(),
        }
        self.arena.say("mended", "-", "-", "-");
    }

    fn ends_backends(&mut self) -> bool {
        if self.trouble.is_some() {
            return false;
        }
        let server = self.arena.server.as_ref().expect("possible");
        let many = 1 + self.random.below(4);
        self.arena.say("outage", "-", "-", "BackendsEnded");
        let ended = server.sql(&format!(
            "select pg_terminate_backend(pid) from pg_stat_activity \
             where pid <> pg_backend_pid() and backend_type = 'client backend' order by random() limit {many}"
        ));
        self.arena.say("mended", "-", "-", "-");
        !ended.is_empty()
    }

    /// Somebody who knows nothing of `locked` writes into a file.
    fn corrupts(&mut self) -> bool {
        use std::os::unix::fs::FileExt as _;
        let (path, resource) = FILES[self.random.below(FILES.len())];
        let file = std::fs::File::options().write(true).open(self.arena.world.work().join(path)).expect("a file");
        let is_long = file.metadata().expect("size").len() > 100;
        let is_done = is_long && file.write_all_at(b"XXXXXX", 24).is_ok();
        if is_done {
            self.arena.say("foreign", "-", resource, "-");
        }
        is_done
    }
}
