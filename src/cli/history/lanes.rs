//! Who held what when: ended and live leases as bars in lanes, one lane for each resource (pure).
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use crate::store::{Ended, LeaseView, PastLease};
use crate::terms::Resource;

/// One lease over time.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    /// Wall clock, ms since 1970.
    pub(super) from: i64,
    /// Likewise; of a live one the moment of the look.
    pub(super) to: i64,
    /// The number of its holder.
    pub(super) holder: usize,
    pub(super) operation: String,
    /// None while it lives.
    pub(super) ended_as: Option<Ended>,
    /// How it ended, or its state.
    pub(super) word: String,
    pub(super) note: Option<String>,
    pub(super) receipt: Option<String>,
}

impl Bar {
    /// The mark at its end.
    pub(super) fn mark(&self) -> char {
        match self.ended_as {
            None => '>',
            Some(Ended::Completed) => '.',
            Some(Ended::Failed) => 'x',
            Some(Ended::Expired) => '~',
            Some(Ended::Stolen) => '!',
            Some(Ended::HumanAction) => '?',
        }
    }
}

/// What the marks mean.
pub(super) const MARKS: [(char, &str); 6] =
    [('>', "live"), ('.', "completed"), ('x', "failed"), ('~', "expired"), ('!', "stolen"), ('?', "human-action")];

/// Everything that a timeline shows.
#[derive(Debug)]
pub(super) struct Lanes {
    pub(super) from: i64,
    pub(super) to: i64,
    /// By resource, each with its bars from the oldest.
    pub(super) lanes: Vec<(String, Vec<Bar>)>,
    /// In the order of their first lease: short session and label.
    pub(super) holders: Vec<String>,
}

impl Lanes {
    /// Of these leases; nothing when there are none. `now` is the moment of the look.
    pub(super) fn of(past: &[PastLease], live: &[LeaseView], now: i64) -> Option<Self> {
        let mut bars: Vec<(&Resource, String, Bar)> =
            past.iter().map(ended).chain(live.iter().map(|it| lives(it, now))).collect();
        bars.sort_by(|one, other| (one.2.from, one.0).cmp(&(other.2.from, other.0)));
        let from = bars.iter().map(|(.., bar)| bar.from).min()?;
        let to = bars.iter().map(|(.., bar)| bar.to).max()?.max(from + 1);
        let several =
            |resource: &Resource| bars.iter().any(|(it, ..)| it.name == resource.name && it.scope != resource.scope);
        let titles: BTreeMap<&Resource, String> = bars
            .iter()
            .map(|(resource, ..)| {
                let scope = if several(resource) { format!(" ({})", resource.scope) } else { String::new() };
                (*resource, format!("{}{scope}", resource.name))
            })
            .collect();
        let mut holders: Vec<String> = Vec::new();
        let mut lanes: BTreeMap<&Resource, Vec<Bar>> = BTreeMap::new();
        for (resource, holder, bar) in &bars {
            let number = holders.iter().position(|it| it == holder).unwrap_or_else(|| {
                holders.push(holder.clone());
                holders.len() - 1
            });
            lanes.entry(resource).or_default().push(Bar { holder: number, ..bar.clone() });
        }
        let lanes = lanes.into_iter().map(|(resource, bars)| (titles[resource].clone(), bars)).collect();
        Some(Self { from, to, lanes, holders })
    }

    /// How many leases a holder has here.
    pub(super) fn count(&self, holder: usize) -> usize {
        self.lanes.iter().flat_map(|(_, bars)| bars).filter(|bar| bar.holder == holder).count()
    }

    /// Where a moment lies, of `width`.
    pub(super) fn place(&self, moment: i64, width: u32) -> u32 {
        let (of, all) = (i128::from(moment - self.from), i128::from(self.to - self.from));
        u32::try_from((of * i128::from(width) / all).clamp(0, i128::from(width))).unwrap_or(width)
    }
}

/// A moment that can be drawn: of 1970 to 9999. Others were never any store's; who may write to one may write them.
fn drawn(moment: i64) -> i64 {
    moment.clamp(0, 253_402_300_799_000)
}

fn ended(lease: &PastLease) -> (&Resource, String, Bar) {
    let bar = Bar {
        from: drawn(lease.acquired_at),
        to: drawn(lease.ended_at.max(lease.acquired_at)),
        holder: 0,
        operation: lease.operation.clone(),
        ended_as: Some(lease.ended_as),
        word: lease.ended_as.as_str().to_owned(),
        note: lease.note.clone(),
        receipt: lease.receipt.as_ref().map(ToString::to_string),
    };
    (&lease.resource, format!("{} ({})", lease.session, lease.label), bar)
}

fn lives(lease: &LeaseView, now: i64) -> (&Resource, String, Bar) {
    let bar = Bar {
        from: drawn(lease.acquired_at),
        to: drawn(now.max(lease.acquired_at)),
        holder: 0,
        operation: lease.operation.clone(),
        ended_as: None,
        word: lease.state.as_str().to_owned(),
        note: lease.reason.clone(),
        receipt: None,
    };
    (&lease.resource, format!("{} ({})", lease.session, lease.label), bar)
}

/// The letter of a holder: A to Z, a to z, and a plus for all that come after.
pub(super) fn letter(holder: usize) -> char {
    u8::try_from(holder)
        .ok()
        .and_then(|at| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".get(usize::from(at)))
        .map_or('+', |&byte| char::from(byte))
}
