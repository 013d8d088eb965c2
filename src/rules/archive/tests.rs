//! Lines of tar, and where members land.
#![forbid(unsafe_code)]

use super::*;

fn tar(line: &str) -> Tar {
    Tar::read(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
}

#[test]
fn lines_of_tar_are_read_as_tar_reads_them() {
    for (line, archive, directory, names) in [
        ("xzf a.tgz -C /srv", Some("a.tgz"), "/srv", &[][..]),
        ("xzfC a.tgz /srv app", Some("a.tgz"), "/srv", &["app"]),
        ("-xzf a.tgz app .env", Some("a.tgz"), "", &["app", ".env"]),
        ("-xfa.tgz -C/srv", Some("a.tgz"), "/srv", &[]),
        ("--extract --file=a.tgz --directory /srv", Some("a.tgz"), "/srv", &[]),
        ("-C /srv -xz", None, "/srv", &[]),
        ("xz --exclude .env -f a.tgz", Some("a.tgz"), "", &[]),
        ("-x --cd /srv -f a.tgz", Some("a.tgz"), "/srv", &[]),
        ("-x --to-command cat -f a.tgz", Some("a.tgz"), "", &[]),
        ("-x -I zstd -f a.tzst -- -b", Some("a.tzst"), "", &["-b"]),
    ] {
        let found = tar(line);
        assert!(found.extracts && !found.creates, "{line}");
        assert_eq!(found.archive.as_deref(), archive.map(OsStr::new), "{line}");
        assert_eq!(found.directory, Path::new(directory), "{line}");
        assert_eq!(found.names.iter().map(|(_, name)| name.as_os_str()).collect::<Vec<_>>(), names, "{line}");
    }
    assert!(!tar("tzf a.tgz").extracts && tar("cz app").creates && tar("xOf a.tar").prints);
}

#[test]
fn a_directory_of_its_own_is_called_as_the_line_says_or_the_archive_is() {
    for (line, place) in [
        ("xf a.tar.gz -C d --one-top-level", Some("d/a")),
        ("xf a.tgz --one-top-level=x", Some("x")),
        ("xf a.tar --one-top", Some("a")),
        ("xf a --one-top-level", None),
        ("xf - --one-top-level", None),
        ("xf a.tar --xform s/a/b/", None),
        ("xf a.tar --wildcards *.env", Some("")),
    ] {
        assert_eq!(tar(line).place().as_deref(), place.map(Path::new), "{line}");
    }
}

#[test]
fn members_land_where_tar_puts_them() {
    let it = Unpacked {
        archive: None,
        place: "/srv".into(),
        strip: 1,
        members: vec!["app/conf".into()],
        without: vec![Pattern::new(OsStr::new("*.bak")).expect("a pattern")],
        flat: false,
        ending: "",
    };
    let lands = |member: &str| it.lands(Path::new(member));
    assert_eq!(lands("./app/conf/.env").as_deref(), Some(Path::new("/srv/conf/.env")));
    assert_eq!(lands("/app/conf/../x").as_deref(), Some(Path::new("/srv/conf/x")));
    assert_eq!(lands("app/other"), None);
    assert_eq!(lands("app/conf/a.bak"), None);
}

#[test]
fn what_goes_into_a_pipe_is_named_with_its_directory() {
    let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
    let of = |line: &str| packed(&args(line), Path::new("/w"));
    let one = |path: &str, name: &str| Packed { path: path.into(), name: name.into(), without: Vec::new() };
    assert_eq!(of("cz app").as_deref(), Some(&[one("/w/app", "app")][..]));
    assert_eq!(
        of("-czf - -C deploy . -C ../x y").as_deref(),
        Some(&[one("/w/deploy/.", ""), one("/w/deploy/../x/y", "y")][..])
    );
    assert_eq!(of("czf a.tgz app"), None);
    assert_eq!(of("tz"), None);
}

#[test]
fn a_name_that_is_cut_short_is_the_one_that_it_can_be() {
    let found = tar("-x --strip=1 --dir /srv --file a.tar --keep-old");
    assert!(found.extracts && found.keeps && found.strip == 1);
    assert_eq!((found.archive.as_deref(), found.directory.as_path()), (Some(OsStr::new("a.tar")), Path::new("/srv")));
    assert!(!tar("-x --ex a.tar").keeps, "it may be several");
}
