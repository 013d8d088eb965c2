//! Who may write in a directory, by its list of rights.
#![allow(unsafe_code, reason = "calls of the system; each block says why it is sound")]

use std::io;
use std::path::Path;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, GENERIC_ALL, GENERIC_WRITE, HANDLE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, GetNamedSecurityInfoW,
    SDDL_REVISION_1, SE_FILE_OBJECT,
};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, DACL_SECURITY_INFORMATION, EqualSid, GetAce, GetTokenInformation,
    INHERIT_ONLY_ACE, IsWellKnownSid, PSECURITY_DESCRIPTOR, PSID, SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER,
    TokenUser, WinBuiltinAdministratorsSid, WinCreatorOwnerRightsSid, WinCreatorOwnerSid, WinLocalSystemSid,
};
use windows_sys::Win32::Storage::FileSystem::{
    CreateDirectoryW, DELETE, FILE_ADD_FILE, FILE_ADD_SUBDIRECTORY, FILE_DELETE_CHILD, WRITE_DAC, WRITE_OWNER,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use crate::platform::{Handle, wide};

/// The kind of an entry that gives rights (`ACCESS_ALLOWED_ACE_TYPE`, winnt.h).
const GIVES: u8 = 0;
/// What makes, takes away, or lets others do so.
const WRITES: u32 = FILE_ADD_FILE
    | FILE_ADD_SUBDIRECTORY
    | FILE_DELETE_CHILD
    | DELETE
    | WRITE_DAC
    | WRITE_OWNER
    | GENERIC_WRITE
    | GENERIC_ALL;

/// Memory of the system's, freed when it is dropped.
struct Local(*mut std::ffi::c_void);

impl Drop for Local {
    fn drop(&mut self) {
        // SAFETY: the system gave it to us to free, once.
        unsafe { LocalFree(self.0) };
    }
}

/// The identity of the user as whom we run.
struct User(Vec<u64>);

impl User {
    fn ours() -> io::Result<Self> {
        let mut token: HANDLE = std::ptr::null_mut();
        // SAFETY: `token` is valid for the call, and its handle nobody else's.
        let token = unsafe {
            OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token);
            Handle::own(token)?
        };
        let mut words = vec![0u64; 64];
        let mut written = 0;
        // SAFETY: the buffer has the size that is said and the alignment of the struct, and lives through the call.
        let told =
            unsafe { GetTokenInformation(token.raw(), TokenUser, words.as_mut_ptr().cast(), 512, &raw mut written) };
        if told == 0 { Err(io::Error::last_os_error()) } else { Ok(Self(words)) }
    }

    fn sid(&self) -> PSID {
        // SAFETY: the system has filled the buffer with this struct; its pointer leads into the same buffer.
        unsafe { (*self.0.as_ptr().cast::<TOKEN_USER>()).User.Sid }
    }

    /// As people and other calls write it.
    fn text(&self) -> io::Result<String> {
        let mut text: *mut u16 = std::ptr::null_mut();
        // SAFETY: the identity lives in `self`; the answer is a text of the system's that ends with a zero.
        unsafe {
            if ConvertSidToStringSidW(self.sid(), &raw mut text) == 0 {
                return Err(io::Error::last_os_error());
            }
            let _freed = Local(text.cast());
            let length = (0..).take_while(|&at| *text.add(at) != 0).count();
            Ok(String::from_utf16_lossy(std::slice::from_raw_parts(text, length)))
        }
    }
}

/// Whether somebody but this user, the system and its administrators may make or take away something in the directory.
pub(super) fn writable_by_others(directory: &Path) -> io::Result<bool> {
    let user = User::ours()?;
    let name = wide(directory.as_os_str());
    let (mut list, mut descriptor): (*mut ACL, PSECURITY_DESCRIPTOR) = (std::ptr::null_mut(), std::ptr::null_mut());
    let null: *mut std::ffi::c_void = std::ptr::null_mut();
    // SAFETY: the name ends with a zero; what is asked for is valid for the call, the rest is null.
    let status = unsafe {
        GetNamedSecurityInfoW(
            name.as_ptr(),
            SE_FILE_OBJECT,
            DACL_SECURITY_INFORMATION,
            null.cast(),
            null.cast(),
            &raw mut list,
            null.cast(),
            &raw mut descriptor,
        )
    };
    if status != ERROR_SUCCESS {
        return Err(io::Error::from_raw_os_error(status.cast_signed()));
    }
    let _freed = Local(descriptor);
    // SAFETY: the list lies in the descriptor, which lives still.
    Ok(unsafe { opens(list, &user) })
}

/// Whether this list gives rights to others.
///
/// # Safety
/// The list is null or a valid one.
unsafe fn opens(list: *const ACL, user: &User) -> bool {
    if list.is_null() {
        // No list at all gives every right to everybody.
        return true;
    }
    // SAFETY: by the contract it is a valid list.
    let count = unsafe { (*list).AceCount };
    (0..count).any(|nth| gives_to_others(list, nth.into(), user))
}

fn gives_to_others(list: *const ACL, nth: u32, user: &User) -> bool {
    let mut entry = std::ptr::null_mut();
    // SAFETY: the list is a valid one, and every entry begins with this header; of those that give rights the rest is as
    // the struct has it, and the identity begins where its last field is.
    unsafe {
        if GetAce(list, nth, &raw mut entry) == 0 {
            return false;
        }
        let header = *entry.cast::<ACE_HEADER>();
        if header.AceType != GIVES || u32::from(header.AceFlags) & INHERIT_ONLY_ACE != 0 {
            return false;
        }
        let gives = entry.cast::<ACCESS_ALLOWED_ACE>();
        let who: PSID = (&raw mut (*gives).SidStart).cast();
        let known = [WinLocalSystemSid, WinBuiltinAdministratorsSid, WinCreatorOwnerSid, WinCreatorOwnerRightsSid];
        let trusted = EqualSid(who, user.sid()) != 0 || known.iter().any(|&kind| IsWellKnownSid(who, kind) != 0);
        (*gives).Mask & WRITES != 0 && !trusted
    }
}

/// Makes a directory with a list of its own: this user, the system and its administrators have every right, in it and in all
/// that is made in it, and nobody else has any.
pub(super) fn make_private(directory: &Path) -> io::Result<()> {
    let user = User::ours()?.text()?;
    make(directory, &format!("D:P(A;OICI;FA;;;{user})(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"))
}

fn make(directory: &Path, rights: &str) -> io::Result<()> {
    let (descriptor, name) = (read(rights)?, wide(directory.as_os_str()));
    let size = u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or_default();
    let attributes = SECURITY_ATTRIBUTES { nLength: size, lpSecurityDescriptor: descriptor.0, bInheritHandle: 0 };
    // SAFETY: the name ends with a zero, and the descriptor lives through the call.
    if unsafe { CreateDirectoryW(name.as_ptr(), &raw const attributes) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A descriptor of rights by its text.
fn read(rights: &str) -> io::Result<Local> {
    let rights = wide(rights.as_ref());
    let mut descriptor: PSECURITY_DESCRIPTOR = std::ptr::null_mut();
    // SAFETY: the text ends with a zero; the answer is the system's memory, freed with what is answered here.
    let read = unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            rights.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            std::ptr::null_mut(),
        )
    };
    if read == 0 { Err(io::Error::last_os_error()) } else { Ok(Local(descriptor)) }
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::Security::GetSecurityDescriptorDacl;

    use super::*;

    #[test]
    fn who_else_may_write_is_told_from_who_may_anyway() {
        let user = User::ours().expect("a user");
        let ours = user.text().expect("a text");
        for (rights, open) in [
            ("D:P(A;;FA;;;US)(A;;FA;;;SY)(A;;FA;;;BA)(A;;FA;;;CO)", false),
            ("D:P(A;;FA;;;US)(A;;FR;;;WD)", false),
            ("D:P(A;;FA;;;US)(A;OICIIO;FA;;;WD)", false),
            ("D:P(D;;FA;;;WD)(A;;FA;;;US)", false),
            ("D:P(A;;FA;;;US)(A;;FW;;;WD)", true),
            ("D:P(A;;FA;;;US)(A;;GA;;;AU)", true),
            ("D:P(A;;WD;;;BU)", true),
        ] {
            let descriptor = read(&rights.replace("US", &ours)).expect(rights);
            let (mut there, mut list, mut by_default) = (0, std::ptr::null_mut(), 0);
            // SAFETY: the descriptor is a valid one, and the answers are valid for the call; the list lies in it.
            let said = unsafe {
                GetSecurityDescriptorDacl(descriptor.0, &raw mut there, &raw mut list, &raw mut by_default);
                opens(list, &user)
            };
            assert_eq!(said, open, "{rights}");
        }
    }
}
