//! Members of a tool's `_meta` that clients read, and their models do not. Claude Code knows them.

/// Has the tool in the list, however many others are deferred.
pub(crate) const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// Words by which the tool is found where it is deferred.
pub(crate) const SEARCH_HINT: &str = "anthropic/searchHint";

/// Most characters of the tool's result that are not cut.
pub(crate) const MAX_RESULT_SIZE: &str = "anthropic/maxResultSizeChars";

/// The largest number that counts there.
pub(crate) const LARGEST_RESULT_SIZE: u32 = 500_000;

/// Says that each call needs a person.
pub(crate) const REQUIRES_USER_INTERACTION: &str = "anthropic/requiresUserInteraction";
