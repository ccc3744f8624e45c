//! WIT types → tool types, with their notes.

use wit_parser::{Resolve, TypeDef, TypeDefKind, TypeId};

use super::kind::Kind;
use super::tags::{Doc, note};
use crate::error::Finding;
use crate::notes::Notes;
use crate::types::{Type, snake_case};

mod cases;
mod constraints;
mod contract_type;
mod defined;
mod fields;
mod written_size;

use cases::case_list;
use contract_type::of_contract;
use written_size::WrittenSize;

/// Most levels of nested types. A level is at most four levels of its JSON Schema, and JSON readers
/// commonly stop at 128.
const MAX_DEPTH: usize = 24;

/// Reason for which a type is no tool type.
#[derive(Debug)]
pub(crate) struct Unfit(pub(crate) String);

/// A type with its notes.
pub(crate) type Noted = (Type, Notes);

/// Turns the types of one [`Resolve`] into tool types.
pub(crate) struct Lower<'a> {
    resolve: &'a Resolve,
    written: WrittenSize,
    /// Memory that reading all patterns so far takes, in bytes.
    pattern_bytes: u64,
    /// The function whose types are being lowered, if it is a tool.
    tool: Option<String>,
    /// Whether the type being lowered is inside a type of the contract.
    inside: bool,
    /// Findings so far.
    pub(crate) findings: Vec<Finding>,
}

impl<'a> Lower<'a> {
    pub(crate) fn new(resolve: &'a Resolve) -> Self {
        Self {
            resolve,
            written: WrittenSize::default(),
            pattern_bytes: 0,
            tool: None,
            inside: false,
            findings: Vec::new(),
        }
    }

    /// Starts on another function.
    pub(crate) fn next_function(&mut self, name: String, kind: Kind) {
        self.written.next_function();
        self.tool = Some(name).filter(|_| kind == Kind::Tool);
    }

    /// Returns the tool type of a parameter.
    pub(crate) fn parameter(&mut self, ty: &wit_parser::Type) -> Result<Noted, Unfit> {
        self.lower(ty, 0)
    }

    /// Returns the tool type of a result. A type of the contract that stands for an MCP type has
    /// its meaning only there, in the result of the matching kind of function.
    pub(crate) fn result(&mut self, ty: &wit_parser::Type, of: Kind) -> Result<Noted, Unfit> {
        if let Some(TypeDefKind::Result(result)) = self.definition(ty).map(|def| &def.kind) {
            let ok = result.ok.as_ref();
            let ok = ok.map(|ok| self.answer(ok, of, 1)).transpose()?;
            // Only the errors of tools are results, which have room for more than text.
            let err = match (&result.err, of) {
                (Some(err), Kind::Tool) => Some(self.answer(err, of, 1)?),
                (err, _) => self.optional(err.as_ref(), 1)?,
            };
            return Ok(either(ok, err));
        }
        self.answer(ty, of, 0)
    }

    /// Lowers a result, or one side of it.
    fn answer(&mut self, ty: &wit_parser::Type, of: Kind, depth: usize) -> Result<Noted, Unfit> {
        let known = match of {
            Kind::Tool => ("content", Type::Contents),
            Kind::Prompt => ("prompt-message", Type::Messages),
            Kind::Resource => ("embedded-resource", Type::Embedded),
        };
        let (item, list) = known;
        let def = self.definition(ty);
        if of == Kind::Tool && def.and_then(|def| of_contract(self.resolve, def)) == Some(item) {
            return Ok((Type::Content, Notes::default()));
        }
        if let Some(TypeDefKind::List(inner)) = def.map(|def| &def.kind)
            && self
                .definition(inner)
                .and_then(|def| of_contract(self.resolve, def))
                .is_some_and(|name| name == item)
        {
            return Ok((list, Notes::default()));
        }
        self.lower(ty, depth)
    }

    /// Returns the definition of a type, behind all its aliases.
    fn definition(&self, ty: &wit_parser::Type) -> Option<&'a TypeDef> {
        let mut ty = *ty;
        while let wit_parser::Type::Id(id) = ty {
            let def = self.resolve.types.get(id)?;
            match def.kind {
                TypeDefKind::Type(aliased) => ty = aliased,
                _ => return Some(def),
            }
        }
        None
    }
    /// Warns of `content` that is neither a result nor a side of one. There is no warning for the
    /// contract's other types: only a tag tells functions that may return them from tools, and a
    /// built component has no tags.
    fn misplaced(&mut self, name: &str) {
        if name == "content"
            && let Some(tool) = &self.tool
        {
            let message = "`content` is plain JSON to agents in this place";
            let hint = "a tool answers with `content`, `list<content>`, or a `result` of them";
            note(
                &mut self.findings,
                Finding::warning(tool.as_str(), message).hint(hint),
            );
        }
    }
    fn lower(&mut self, ty: &wit_parser::Type, depth: usize) -> Result<Noted, Unfit> {
        use wit_parser::Type as Wit;
        self.written.spend(0)?;
        if depth > MAX_DEPTH {
            return Err(Unfit(format!(
                "its types are nested deeper than {MAX_DEPTH}"
            )));
        }
        let plain = match ty {
            Wit::Bool => Type::Bool,
            Wit::U8 => Type::U8,
            Wit::U16 => Type::U16,
            Wit::U32 => Type::U32,
            Wit::U64 => Type::U64,
            Wit::S8 => Type::S8,
            Wit::S16 => Type::S16,
            Wit::S32 => Type::S32,
            Wit::S64 => Type::S64,
            Wit::F32 => Type::F32,
            Wit::F64 => Type::F64,
            Wit::Char => Type::Char,
            Wit::String => Type::String,
            Wit::ErrorContext => return Err(Unfit("`error-context` is no tool type".into())),
            Wit::Id(id) => return self.named(*id, depth),
        };
        Ok((plain, Notes::default()))
    }

    /// Lowers a type that has a definition. The definition's doc comment, and each of its
    /// constraints, hold in every place that has none of its own.
    fn named(&mut self, id: TypeId, depth: usize) -> Result<Noted, Unfit> {
        let mut docs = Vec::new();
        let mut id = id;
        let lowered = loop {
            let Some(def) = self.resolve.types.get(id) else {
                return Err(Unfit("a type is missing".into()));
            };
            if let Some(name) = def.name.as_deref().filter(|_| !def.docs.is_empty()) {
                docs.push((name, &def.docs));
            }
            match &def.kind {
                TypeDefKind::Type(wit_parser::Type::Id(aliased)) => {
                    self.written.spend(0)?;
                    id = *aliased;
                }
                TypeDefKind::Type(primitive) => break self.lower(primitive, depth)?,
                _ => {
                    let around = self.inside;
                    if let Some(name) = of_contract(self.resolve, def).filter(|_| !around) {
                        self.misplaced(name);
                        self.inside = true;
                    }
                    let defined = self.defined(def, depth);
                    self.inside = around;
                    break defined?;
                }
            }
        };
        let (ty, mut notes) = lowered;
        // From the definition outwards, so that the nearest comment wins.
        for (name, docs) in docs.into_iter().rev() {
            let doc = Doc::parse(docs);
            self.written
                .spend(doc.text.as_ref().map_or(0, String::len))?;
            let tags = doc.known(
                name,
                &["minimum", "maximum", "pattern", "format"],
                &[],
                &mut self.findings,
            );
            for tag in tags {
                self.constrain(tag, name, &ty, &mut notes);
            }
            if let Some(text) = doc.text {
                notes.description = Some(text + &case_list(&ty, &notes));
            }
        }
        Ok((ty, notes))
    }

    fn name(&self, id: TypeId) -> &'a str {
        self.resolve
            .types
            .get(id)
            .and_then(|def| def.name.as_deref())
            .unwrap_or("_")
    }

    fn optional(
        &mut self,
        ty: Option<&wit_parser::Type>,
        depth: usize,
    ) -> Result<Option<Noted>, Unfit> {
        ty.map(|ty| self.lower(ty, depth)).transpose()
    }
    /// Makes the JSON names of all parts distinct: where a `@name` makes two equal, all go back to
    /// their WIT names, which differ.
    fn distinct<'n>(
        &mut self,
        item: &str,
        names: impl Iterator<Item = (&'n String, &'n mut String)>,
    ) {
        let names: Vec<_> = names.collect();
        let mut seen = std::collections::HashSet::new();
        let double = names.iter().find(|(_, json)| !seen.insert(json.as_str()));
        let Some(json) = double.map(|(_, json)| (**json).clone()) else {
            return;
        };
        note(
            &mut self.findings,
            Finding::error(item, format!("two of its parts are named `{json}` in JSON"))
                .hint("give one of them another `@name`"),
        );
        for (wit, json) in names {
            *json = snake_case(wit);
        }
    }
}

fn either(ok: Option<Noted>, err: Option<Noted>) -> Noted {
    let (ok, ok_notes) = ok.unzip();
    let (err, err_notes) = err.unzip();
    let notes = Notes::over(vec![
        ok_notes.unwrap_or_default(),
        err_notes.unwrap_or_default(),
    ]);
    (
        Type::Result {
            ok: ok.map(Box::new),
            err: err.map(Box::new),
        },
        notes,
    )
}
