//! Groups that have one user alone in them, which many systems make for each user: files that such a
//! group may write to, as they are made with the umask 002, are open to nobody else.

/// Whether a group is a user's own, with nobody else in it: it is their first one, and has their
/// name. Groups and users that only a directory service knows are not looked up, and are nobody's.
pub(super) fn is_private(group: u32, user: u32) -> bool {
    // Root's own.
    if group == 0 {
        return true;
    }
    let read = |file| std::fs::read(file).unwrap_or_default();
    let (groups, users) = (read("/etc/group"), read("/etc/passwd"));
    let text = String::from_utf8_lossy;
    is_own(group, user, &text(&groups), &text(&users))
}

/// Whether a group is a user's own, by the texts of the files of groups and users.
fn is_own(group: u32, user: u32, groups: &str, users: &str) -> bool {
    let is = |field: Option<&str>, id: u32| field.and_then(|text| text.parse().ok()) == Some(id);
    let mut own_name = None;
    // `name:password:uid:gid:…`
    for line in users.lines() {
        let mut fields = line.split(':');
        let (name, id, first) = (fields.next(), fields.nth(1), fields.next());
        if is(first, group) {
            if !is(id, user) {
                return false;
            }
            own_name = own_name.or(name);
        }
    }
    let Some(own_name) = own_name else {
        return false;
    };
    let mut is_named_so = false;
    // `name:password:gid:name,name,…`
    for line in groups.lines() {
        let mut fields = line.split(':');
        let (name, id) = (fields.next(), fields.nth(1));
        if !is(id, group) {
            continue;
        }
        is_named_so |= name == Some(own_name);
        let mut members = fields.next().unwrap_or_default().split(',');
        if !members.all(|member| member.is_empty() || member == own_name) {
            return false;
        }
    }
    is_named_so
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
        assert!(is_private(0, 1000));
    }
}
