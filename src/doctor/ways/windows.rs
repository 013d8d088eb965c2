//! Windows: a new console gets the machine's PATH and behind it the user's, so that a program that was installed for
//! everybody comes before whatever a user puts first for himself.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::doctor::Finding;
use crate::doctor::patient::Patient;
use crate::platform;

use super::passed_by;

/// The line that puts the folder first, where it is typed: in PowerShell.
pub(super) fn line(folder: &Path) -> String {
    format!("$env:Path = {} + \";$env:Path\"", quoted(folder))
}

/// As PowerShell takes a text for what it is.
fn quoted(folder: &Path) -> String {
    format!("'{}'", folder.display().to_string().replace('\'', "''"))
}

/// What the next console will be given.
pub(super) fn elsewhere(patient: &Patient<'_>, tools: &[String], folder: &Path) -> Vec<Finding> {
    let (machine, user) = platform::search_paths();
    let mut path = machine.unwrap_or_default();
    let users = user.unwrap_or_default();
    let is_users = std::env::split_paths(&users).any(|entry| entry == folder);
    path.push(";");
    path.push(&users);
    passed_by(patient, tools, Some(&path)).map(|passed| finding(&passed, is_users, folder)).into_iter().collect()
}

fn finding(passed: &str, is_users: bool, folder: &Path) -> Finding {
    let finding = Finding::warn("path.new", format!("in a new console the shims are passed by: {passed}"));
    let finding = finding.because("what is typed there without locked before it takes no lease");
    match is_users {
        true => finding.remedy(format!(
            "your own Path comes behind the machine's: put {} first in the machine's (as an administrator), or the line `{}` \
             into the file that $PROFILE names",
            quoted(folder),
            line(folder)
        )),
        false => finding.remedy(format!(
            "put {} first in Path (`rundll32 sysdm.cpl,EditEnvironmentVariables`), or the line `{}` into the file that \
             $PROFILE names",
            quoted(folder),
            line(folder)
        )),
    }
}

/// Nobody's shells are lent to another here.
pub(super) fn lent(_patient: &Patient<'_>) -> Option<Finding> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_can_be_pasted_into_powershell_whatever_the_folder_is_called() {
        for (folder, expected) in [
            (r"C:\locked\shims", r#"$env:Path = 'C:\locked\shims' + ";$env:Path""#),
            (r"C:\it's $mine", r#"$env:Path = 'C:\it''s $mine' + ";$env:Path""#),
        ] {
            assert_eq!(line(Path::new(folder)), expected);
        }
    }

    #[test]
    fn who_is_first_in_his_own_path_is_told_of_the_machine_s() {
        let told = |is_users| finding("sops", is_users, Path::new("C:\\shims")).remedy;
        assert!(told(true).contains("administrator") && !told(false).contains("administrator"));
    }
}
