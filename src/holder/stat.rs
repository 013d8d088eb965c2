//! `/proc/PID/stat` (proc_pid_stat(5)).
#![forbid(unsafe_code)]

/// The fields that we need.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) comm: String,
    pub(super) state: char,
    pub(super) parent: u32,
    pub(super) group: u32,
    pub(super) session: u32,
    pub(super) terminal: bool,
    pub(super) flags: u64,
    pub(super) started: u64,
}

/// `PF_KTHREAD` of the kernel's include/linux/sched.h.
const KERNEL_THREAD: u64 = 0x0020_0000;

impl Stat {
    /// Reads one line. The name stands in brackets and may itself hold brackets and spaces: the last one ends it.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(line);
        let (head, tail) = line.rsplit_once(") ")?;
        let (_, comm) = head.split_once(" (")?;
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        // proc(5) counts fields from 1, and the state is the third.
        let field = |number: usize| fields.get(number - 3).copied();
        Some(Self {
            comm: comm.to_owned(),
            state: field(3)?.chars().next()?,
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            terminal: field(7)? != "0",
            flags: field(9)?.parse().ok()?,
            started: field(22)?.parse().ok()?,
        })
    }

    /// A kernel thread, or a process that has ended and only waits to be reaped: it runs no program.
    pub(super) fn runs_nothing(&self) -> bool {
        self.flags & KERNEL_THREAD != 0 || matches!(self.state, 'Z' | 'X' | 'x')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_brackets_is_a_name() {
        let line = b"77 (a) S 1 (b) R 5 77 70 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4242 0 0 0";
        let stat = Stat::parse(line).expect("a stat line");
        assert_eq!((stat.comm.as_str(), stat.state), ("a) S 1 (b", 'R'));
        assert_eq!((stat.parent, stat.group, stat.session, stat.terminal), (5, 77, 70, true));
        assert_eq!(stat.started, 4242);
        assert!(!stat.runs_nothing());
    }

    #[test]
    fn zombies_and_kernel_threads_run_nothing() {
        let line = |state: &str, flags: &str| {
            format!("7 (x) {state} 5 7 7 0 -1 {flags} 1 2 3 4 5 6 7 8 20 0 1 0 42 0").into_bytes()
        };
        assert!(Stat::parse(&line("Z", "4194304")).expect("zombie").runs_nothing());
        assert!(Stat::parse(&line("I", "69238880")).expect("kernel thread").runs_nothing());
        assert!(!Stat::parse(&line("S", "4194304")).expect("process").runs_nothing());
        assert_eq!(Stat::parse(b"7 (x) S 5"), None);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn whatever_a_process_calls_itself_its_numbers_are_read(name in "[^\0]{0,15}", parent: u16, started: u32) {
            let line = format!("77 ({name}) S {parent} 77 70 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 {started} 0 0 0");
            let stat = Stat::parse(line.as_bytes()).expect("a stat line");
            proptest::prop_assert_eq!((stat.comm, stat.parent), (name, u32::from(parent)));
            proptest::prop_assert_eq!(stat.started, u64::from(started));
        }
    }
}
