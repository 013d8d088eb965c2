//! Who stands in line, for what, and whom they wait for: also where nobody holds it.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::cli::table::table;
use crate::cli::world::CALL;
use crate::report::clock_time;
use crate::store::{LeaseView, Store, WaitView};
use crate::terms::{Resource, ResourceName};

/// The line, as one look finds it.
pub(super) struct Line {
    /// Every request in it, the oldest first; none where the store cannot say.
    waiting: Option<Vec<WaitView>>,
    /// Who holds what: the short session, and the label.
    holders: Vec<(Resource, String, String)>,
}

impl Line {
    /// A store of before cannot say.
    pub(super) fn look(store: &mut dyn Store, leases: &[LeaseView]) -> Self {
        let waiting = store.board().and_then(|board| board.waiting(CALL).ok());
        Self { waiting, ..Self::of(Vec::new(), leases) }
    }

    /// These, and who holds what they want.
    pub(super) fn of(waiting: Vec<WaitView>, leases: &[LeaseView]) -> Self {
        let holder = |lease: &LeaseView| (lease.resource.clone(), lease.session.short(), lease.label.clone());
        Self { waiting: Some(waiting), holders: leases.iter().map(holder).collect() }
    }

    /// For people, with all who stand before somebody who was asked for; empty when nobody waits.
    pub(super) fn rows(&self, of: &[ResourceName]) -> String {
        let places = self.places();
        if !places.iter().any(|place| place.concerns(of)) {
            return String::new();
        }
        let head = ["WAITING", "PLACE", "SINCE", "FOR", "BEHIND"].map(str::to_owned).to_vec();
        let rows = places.iter().map(|place| {
            let wanted = place.wait.resources.iter().map(|resource| resource.name.to_string()).collect::<Vec<_>>();
            let since = place.wait.since.map_or_else(|| "?".to_owned(), clock_time);
            let behind = self.in_front_of(place).map_or_else(|| "nobody any more".to_owned(), |behind| behind.told());
            vec![place.wait.holder.clone(), place.number().to_string(), since, wanted.join(" "), behind]
        });
        table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
    }

    /// For programs: those who wait for this lease's resource. Null where the store counts them and cannot say who.
    pub(super) fn behind(&self, lease: &LeaseView) -> Value {
        if self.waiting.is_none() && lease.waiters > 0 {
            return Value::Null;
        }
        let places = self.places();
        Value::Array(places.iter().filter(|it| it.wants(&lease.resource)).map(|it| self.object(it)).collect())
    }

    /// For programs: all who wait for one of these, or for anything.
    pub(super) fn objects(&self, of: &[ResourceName]) -> Value {
        Value::Array(self.places().iter().filter(|it| it.concerns(of)).map(|it| self.object(it)).collect())
    }

    fn places(&self) -> Vec<Place<'_>> {
        let waiting = self.waiting.as_deref().unwrap_or_default();
        let before = |at: usize, wait: &WaitView| waiting[..at].iter().filter(|it| meet(it, wait)).collect();
        waiting.iter().enumerate().map(|(at, wait)| Place { wait, before: before(at, wait) }).collect()
    }

    fn object(&self, place: &Place<'_>) -> Value {
        let (holder, label) = place.wait.who();
        let wants = place.wait.resources.iter();
        let wants = wants.map(|it| json!({"scope": it.scope.to_string(), "resource": it.name.as_str()}));
        json!({
            "holder": holder,
            "label": label,
            "place": place.number(),
            "since": place.wait.since,
            "wants": wants.collect::<Vec<_>>(),
            "behind": self.in_front_of(place).map(|behind| behind.session().to_owned()),
        })
    }

    /// Who holds what it wants; else who asked before it.
    fn in_front_of<'a>(&'a self, place: &Place<'a>) -> Option<Behind<'a>> {
        let held = self.holders.iter().find(|(resource, ..)| place.wants(resource));
        held.map(|(resource, session, label)| Behind::Holder { resource, session, label })
            .or_else(|| place.before.first().map(|first| Behind::First(first)))
    }
}

/// A request in its place.
struct Place<'a> {
    wait: &'a WaitView,
    /// Older ones that want one of the same.
    before: Vec<&'a WaitView>,
}

impl Place<'_> {
    /// From 1.
    fn number(&self) -> usize {
        self.before.len() + 1
    }

    fn wants(&self, resource: &Resource) -> bool {
        self.wait.resources.contains(resource)
    }

    /// It wants one of these, or everything was asked for.
    fn concerns(&self, of: &[ResourceName]) -> bool {
        of.is_empty() || self.wait.resources.iter().any(|resource| of.contains(&resource.name))
    }
}

/// Both want one of the same.
fn meet(one: &WaitView, other: &WaitView) -> bool {
    one.resources.iter().any(|resource| other.resources.contains(resource))
}

/// Whom a request waits for.
enum Behind<'a> {
    Holder { resource: &'a Resource, session: &'a str, label: &'a str },
    First(&'a WaitView),
}

impl Behind<'_> {
    fn session(&self) -> &str {
        match self {
            Self::Holder { session, .. } => session,
            Self::First(first) => first.who().0,
        }
    }

    fn told(&self) -> String {
        match self {
            Self::Holder { resource, session, label } => format!("{session} ({label}), who holds {}", resource.name),
            Self::First(first) => format!("{}, who asked first", first.holder),
        }
    }
}
