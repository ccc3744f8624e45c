//! Groups that have one user alone in them, which many systems make for each user: files that such a
//! group may write to, as they are made with the umask 002, are open to nobody else.

/// Root's group.
const ROOT: u32 = 0;

/// Number of the first user who is a person: the ones below it are the system's own.
const FIRST_PERSON: u32 = 1000;

/// Group that Linux gives files whose own group a user namespace does not map.
const UNMAPPED: u32 = 65534;

/// Whether a group is a user's own, with nobody else in it: it is their first one, and has their
/// name; or it is root's, which nobody else is in. Groups and users that only a directory service knows
/// are not looked up: such a group is nobody's, and such a user is in none.
pub(super) fn is_private(group: u32, user: u32) -> bool {
    let read = |file| std::fs::read(file).unwrap_or_default();
    let (groups, users) = (read("/etc/group"), read("/etc/passwd"));
    let text = String::from_utf8_lossy;
    match group {
        // It may be any group outside, whatever the files here say of it.
        UNMAPPED => false,
        ROOT => {
            let me = rustix::process::geteuid().as_raw();
            is_roots_alone([user, me], &text(&groups), &text(&users))
        }
        _ => is_own(group, user, &text(&groups), &text(&users)),
    }
}

/// Line of the file of users, as far as its numbers can be read.
struct UserEntry<'t> {
    name: &'t str,
    id: u32,
    first_group: u32,
}

/// Returns the users of the text of their file: `name:password:uid:gid:…`.
fn users_of(text: &str) -> impl Iterator<Item = UserEntry<'_>> {
    text.lines().filter_map(|line| {
        let mut fields = line.split(':');
        Some(UserEntry {
            name: fields.next()?,
            id: fields.nth(1)?.parse().ok()?,
            first_group: fields.next()?.parse().ok()?,
        })
    })
}

/// Returns each name of a group by the text of the file of groups, with the group's members:
/// `name:password:gid:name,name,…`.
fn entries_of(group: u32, text: &str) -> impl Iterator<Item = (&str, impl Iterator<Item = &str>)> {
    text.lines().filter_map(move |line| {
        let mut fields = line.split(':');
        let (name, id) = (fields.next()?, fields.nth(1)?);
        let members = fields.next().unwrap_or_default().split(',');
        (id.parse() == Ok(group)).then(|| (name, members.filter(|member| !member.is_empty())))
    })
}

/// Whether a group is a user's own, by the texts of the files of groups and users.
fn is_own(group: u32, user: u32, groups: &str, users: &str) -> bool {
    let mut own_name = None;
    for entry in users_of(users).filter(|entry| entry.first_group == group) {
        if entry.id != user {
            return false;
        }
        own_name = own_name.or(Some(entry.name));
    }
    let Some(own_name) = own_name else {
        return false;
    };
    let mut is_named_so = false;
    for (name, mut members) in entries_of(group, groups) {
        is_named_so |= name == own_name;
        if members.any(|member| member != own_name) {
            return false;
        }
    }
    is_named_so
}

/// Whether root's group is the first one of nobody but root, accounts of the system's and these users (the
/// owner, and whom this process runs as), and has no other members, by the texts of the files of groups and
/// users. In a container that is run as any user, as images for OpenShift are, files are that group's to
/// write, and its user may be in neither file.
fn is_roots_alone(own: [u32; 2], groups: &str, users: &str) -> bool {
    let is_meant = |entry: &UserEntry<'_>| entry.id == ROOT || own.contains(&entry.id);
    let is_of_person = |entry: &UserEntry<'_>| entry.id >= FIRST_PERSON && !is_meant(entry);
    let mut names = vec!["root"];
    for entry in users_of(users) {
        if is_of_person(&entry) && entry.first_group == ROOT {
            return false;
        }
        if is_meant(&entry) {
            names.push(entry.name);
        }
    }
    let mut members = entries_of(ROOT, groups).flat_map(|(_, members)| members);
    members.all(|member| names.contains(&member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_private_that_has_nobody_else_in_it() {
        let users = "root:x:0:0::/root:/bin/sh\n\
                     ann:x:1000:1000::/home/ann:/bin/sh\n\
                     bob:x:1001:1001::/home/bob:/bin/sh\n\
                     cat:x:1002:100::/home/cat:/bin/sh\n\
                     dan:x:1003:1003::/home/dan:/bin/sh\n\
                     eve:x:1004:1004::/home/eve:/bin/sh\n\
                     two:x:1005:1004::/home/two:/bin/sh\n";
        let groups = "root:x:0:\nann:x:1000:\nusers:x:100:\nbob:x:1001:bob\nteam:x:1002:bob\n\
                      dan:x:1003:dan,ann\neve:x:1004:\n";
        for (group, user, is_private) in [
            (1000, 1000, true),
            (1001, 1001, true),
            // Of other users.
            (1000, 1001, false),
            (1001, 1000, false),
            (1000, 0, false),
            // Of all that a directory service knows, for what these files say.
            (100, 1002, false),
            (100, 0, false),
            // Not the user's first one.
            (1002, 1001, false),
            // With another one in it, as a member or as whose first one it is.
            (1003, 1003, false),
            (1004, 1004, false),
            (4000, 1000, false),
        ] {
            let is_own = is_own(group, user, groups, users);
            assert_eq!(is_own, is_private, "group {group}, user {user}");
        }
    }

    /// Also where its users' file has a `nobody` with a group of that name, as Fedora's has.
    #[test]
    fn a_group_that_no_namespace_maps_is_nobodys() {
        assert!(!is_private(UNMAPPED, UNMAPPED));
    }

    #[test]
    fn roots_group_is_private_where_nobody_else_is_in_it() {
        let system = "root:x:0:0::/root:/bin/sh\noperator:x:11:0::/root:/sbin/nologin\n";
        let with_ann = format!("{system}ann:x:1000:1000::/home/ann:/bin/sh\n");
        const ME: u32 = 1_000_680_001;
        let with_pods_user = format!("{system}pod:x:{ME}:0::/app:/bin/sh\n");
        let with_bob = format!("{system}bob:x:1001:0::/home/bob:/bin/sh\n");
        for (users, groups, user, is_private) in [
            // A container without such files, and one for any user.
            ("", "", 1000, true),
            (system, "root:x:0:\n", 1_000_680_000, true),
            (&with_pods_user, "root:x:0:\n", 0, true),
            (system, "root:x:0:root\n", 0, true),
            (&with_bob, "root:x:0:root,bob\n", 1001, true),
            (&with_ann, "root:x:0:\n", 1000, true),
            // Somebody else is in it, as a member or as whose first one it is.
            (&with_bob, "root:x:0:\n", 0, false),
            (&with_bob, "root:x:0:\n", 1_000_680_000, false),
            (&with_bob, "root:x:0:root,ann\n", 1001, false),
            (&with_ann, "wheel:x:0:root,ann\n", 0, false),
            (&with_ann, "root:x:0:\ntoor:x:0:dan\n", 0, false),
        ] {
            let is_alone = is_roots_alone([user, ME], groups, users);
            assert_eq!(is_alone, is_private, "user {user}: {users}{groups}");
        }
    }
}
