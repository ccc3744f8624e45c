//! The tools of `wit/`, each bound to the function behind it.

use dormouse_sdk::types::{Content, EmbeddedResource, MediaContent, ResourceBody};
use tools::{
    EditArguments, Guest, ListArguments, ReadArguments, SearchArguments, SortBy, TreeArguments,
};

use crate::error::Error;
use crate::grants;
use crate::tools::edit::Edit;
use crate::tools::{edit, info, list, media, read, search, tree, write};

struct Filesystem;

dormouse_sdk::plugin!(Filesystem);

/// Turns an error into its text.
fn told<T>(result: Result<T, Error>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

impl Guest for Filesystem {
    fn read_file(arguments: ReadArguments) -> Result<String, String> {
        Self::read_text_file(arguments)
    }

    fn read_text_file(arguments: ReadArguments) -> Result<String, String> {
        told(read::text(
            &grants::folders(),
            &arguments.path,
            arguments.head,
            arguments.tail,
        ))
    }

    fn read_media_file(path: String) -> Result<Vec<Content>, String> {
        let media = told(media::of(&grants::folders(), &path))?;
        let mime_type = media.mime_type.to_owned();
        let annotations = None;
        Ok(vec![match media.mime_type.split_once('/') {
            Some(("image", _)) => Content::Image(MediaContent {
                data: media.data,
                mime_type,
                annotations,
            }),
            Some(("audio", _)) => Content::Audio(MediaContent {
                data: media.data,
                mime_type,
                annotations,
            }),
            _ => Content::Resource(EmbeddedResource {
                uri: media.uri,
                mime_type: Some(mime_type),
                body: ResourceBody::Blob(media.data),
                annotations,
            }),
        }])
    }

    fn read_multiple_files(paths: Vec<String>) -> Result<String, String> {
        told(read::several(&grants::folders(), &paths))
    }

    fn write_file(path: String, content: String) -> Result<String, String> {
        told(write::file(&grants::folders(), &path, &content))
    }

    fn edit_file(arguments: EditArguments) -> Result<String, String> {
        let edits = arguments.edits.into_iter();
        let edits: Vec<Edit> = edits
            .map(|edit| Edit {
                old_text: edit.old_text,
                new_text: edit.new_text,
            })
            .collect();
        told(edit::file(
            &grants::folders(),
            &arguments.path,
            &edits,
            arguments.dry_run,
        ))
    }

    fn create_directory(path: String) -> Result<String, String> {
        told(write::directory(&grants::folders(), &path))
    }

    fn list_directory(path: String) -> Result<String, String> {
        told(list::names(&grants::folders(), &path))
    }

    fn list_directory_with_sizes(arguments: ListArguments) -> Result<String, String> {
        let sort_by = match arguments.sort_by {
            SortBy::Name => list::SortBy::Name,
            SortBy::Size => list::SortBy::Size,
        };
        told(list::sizes(&grants::folders(), &arguments.path, sort_by))
    }

    fn directory_tree(arguments: TreeArguments) -> Result<String, String> {
        told(tree::of(
            &grants::folders(),
            &arguments.path,
            &arguments.exclude_patterns,
        ))
    }

    fn move_file(source: String, destination: String) -> Result<String, String> {
        told(write::moved(&grants::folders(), &source, &destination))
    }

    fn search_files(arguments: SearchArguments) -> Result<String, String> {
        let SearchArguments {
            path,
            pattern,
            exclude_patterns,
        } = arguments;
        told(search::files(
            &grants::folders(),
            &path,
            &pattern,
            &exclude_patterns,
        ))
    }

    fn get_file_info(path: String) -> Result<String, String> {
        told(info::of(&grants::folders(), &path))
    }

    fn list_allowed_directories() -> Result<String, String> {
        Ok(grants::folders().allowed())
    }
}
