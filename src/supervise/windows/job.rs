//! The job object around this process and everything that it starts.
#![allow(unsafe_code, reason = "calls of the system; each block says why it is sound")]

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use windows_sys::Win32::Foundation::{HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, IsProcessInJob, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, OpenProcess, PROCESS_QUERY_INFORMATION, PROCESS_SUSPEND_RESUME, PROCESS_SYNCHRONIZE,
    PROCESS_TERMINATE, TerminateProcess, WaitForSingleObject,
};

use crate::platform::Handle;

#[link(name = "ntdll")]
unsafe extern "system" {
    /// Stops every thread of a process, and lets them go on; as debuggers do. Not in the system's headers, and there since
    /// Windows XP.
    fn NtSuspendProcess(process: HANDLE) -> i32;
    fn NtResumeProcess(process: HANDLE) -> i32;
}

/// How many processes of a tree are seen in one look.
const MOST: usize = 1024;
/// How often a tree is looked at until it is empty: whoever is being ended may still start another.
const LOOKS: usize = 100;
/// How long the end of one process may take.
const ENDS_WITHIN: Duration = Duration::from_secs(5);
/// The status of what we have ended, as the system's own tools have it.
const ENDED: u32 = 1;

/// The job. Its handle is never closed by us: closing it would end us as well.
pub(super) struct Job(Handle);

static JOB: OnceLock<Result<Job, i32>> = OnceLock::new();

impl Job {
    /// Puts this process into a job of its own, once; whatever it starts from then on is in it too.
    pub(super) fn around_us() -> io::Result<&'static Self> {
        let made = JOB.get_or_init(|| Self::make().map_err(|error| error.raw_os_error().unwrap_or_default()));
        made.as_ref().map_err(|code| io::Error::from_raw_os_error(*code))
    }

    fn make() -> io::Result<Self> {
        // SAFETY: no name and no rights; the answer is nobody else's.
        let job = Self(unsafe { Handle::own(CreateJobObjectW(std::ptr::null(), std::ptr::null()))? });
        job.limit(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
        // SAFETY: both handles are open; the second is a constant that means this process.
        if unsafe { AssignProcessToJobObject(job.0.raw(), GetCurrentProcess()) } == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(job)
    }

    fn limit(&self, flags: u32) -> io::Result<()> {
        // SAFETY: all-zero is a valid value of this struct of numbers.
        let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = unsafe { std::mem::zeroed() };
        limits.BasicLimitInformation.LimitFlags = flags;
        let size = u32::try_from(size_of_val(&limits)).unwrap_or_default();
        // SAFETY: the struct is the one that is named, of the size that is said, and lives through the call.
        let set = unsafe {
            SetInformationJobObject(self.0.raw(), JobObjectExtendedLimitInformation, (&raw const limits).cast(), size)
        };
        if set == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// What is left in the job lives on when we end.
    pub(super) fn let_go(&self) {
        // One that cannot be let go is ended with us: what it was started for has ended.
        let _ends_with_us = self.limit(0);
    }

    /// The processes in the job, without us. None: the system does not say.
    fn others(&self) -> Option<Vec<u32>> {
        // The list: how many there are, how many are listed, their numbers.
        let mut words = vec![0usize; 1 + MOST];
        let size = u32::try_from(words.len() * size_of::<usize>()).unwrap_or_default();
        let mut written = 0;
        // SAFETY: the buffer has the size that is said and the alignment of the struct, and lives through the call.
        let told = unsafe {
            QueryInformationJobObject(
                self.0.raw(),
                JobObjectBasicProcessIdList,
                words.as_mut_ptr().cast(),
                size,
                &raw mut written,
            )
        };
        let listed = words[0] >> 32;
        if told == 0 && listed == 0 {
            return None;
        }
        let pids = words[1..].iter().take(listed).filter_map(|&pid| u32::try_from(pid).ok());
        Some(pids.filter(|&pid| pid != 0 && pid != std::process::id()).collect())
    }

    /// A handle on a process of the job; none when it has ended, or its number is another's by now.
    fn open(&self, pid: u32, rights: u32) -> Option<Handle> {
        // Wine asks for the whole right to look, where the system is content with the limited one.
        let rights = rights | PROCESS_QUERY_INFORMATION | PROCESS_SYNCHRONIZE;
        // SAFETY: the call takes no pointer, and its answer is nobody else's.
        let process = unsafe { Handle::own(OpenProcess(rights, 0, pid)) }.ok()?;
        let mut inside = 0;
        // SAFETY: both handles are open, and `inside` is valid for the call.
        let told = unsafe { IsProcessInJob(process.raw(), self.0.raw(), &raw mut inside) };
        (told != 0 && inside != 0).then_some(process)
    }

    /// Ends everything in the job but us, however deep and whatever begins meanwhile. Those that live on all the same; a 0 stands
    /// for those that nobody names.
    pub(super) fn stop(&self) -> Vec<i32> {
        for _ in 0..LOOKS {
            let Some(others) = self.others() else {
                pause();
                continue;
            };
            if others.is_empty() {
                return Vec::new();
            }
            // Order: all at once, then waited for, so that none starts another while one is waited for.
            let ending: Vec<Handle> = others.iter().filter_map(|&pid| self.open(pid, PROCESS_TERMINATE)).collect();
            for process in &ending {
                // SAFETY: the handle is open and may be ended.
                let _it_may_have_ended = unsafe { TerminateProcess(process.raw(), ENDED) };
            }
            for process in &ending {
                if !has_ended_within(process, ENDS_WITHIN) {
                    return others.into_iter().map(u32::cast_signed).collect();
                }
            }
            if ending.is_empty() {
                // Listed, and no handle to be had: they are through in a moment, or not ours to end.
                pause();
            }
        }
        self.others().map_or_else(|| vec![0], |others| others.into_iter().map(u32::cast_signed).collect())
    }

    /// Nothing in the job but us goes on until what is answered is dropped. Looked at again until nobody is new: whoever is about
    /// to stand still may start another before.
    pub(super) fn freeze(&self) -> Frozen {
        let (mut seen, mut frozen) = (Vec::new(), Vec::new());
        for _ in 0..LOOKS {
            let Some(others) = self.others() else { break };
            let new: Vec<u32> = others.into_iter().filter(|pid| !seen.contains(pid)).collect();
            if new.is_empty() {
                let whole = seen.len() == frozen.len();
                return Frozen { processes: frozen, whole };
            }
            let processes = new.iter().filter_map(|&pid| self.open(pid, PROCESS_SUSPEND_RESUME));
            // SAFETY: the handle is open and may be suspended.
            frozen.extend(processes.filter(|process| unsafe { NtSuspendProcess(process.raw()) >= 0 }));
            seen.extend(new);
        }
        Frozen { processes: frozen, whole: false }
    }
}

/// Processes that stand still.
pub(super) struct Frozen {
    processes: Vec<Handle>,
    whole: bool,
}

impl Frozen {
    /// Whether nothing of the tree goes on, as far as the system says.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        for process in &self.processes {
            // SAFETY: the handle is open and may be resumed.
            let _it_may_have_ended = unsafe { NtResumeProcess(process.raw()) };
        }
    }
}

/// Whether the process has ended, or ends within this time.
pub(super) fn has_ended_within(process: &Handle, limit: Duration) -> bool {
    // SAFETY: the handle is open.
    unsafe { WaitForSingleObject(process.raw(), milliseconds(limit)) == WAIT_OBJECT_0 }
}

/// Rounded up, so that nobody wakes just before the time and looks again and again; and never for ever.
pub(super) fn milliseconds(span: Duration) -> u32 {
    u32::try_from(span.as_nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX).min(i32::MAX.cast_unsigned())
}

#[expect(clippy::disallowed_methods, reason = "what cannot be opened cannot be waited for")]
fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}
