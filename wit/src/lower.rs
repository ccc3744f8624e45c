//! WIT types → tool types, with their notes.

use serde_json::Value;
use wit_parser::{Docs, Resolve, TypeDef, TypeDefKind, TypeId, TypeOwner};

use crate::accept::accept;
use crate::constraint::constraint;
use crate::error::Finding;
use crate::exported::Kind;
use crate::notes::Notes;
use crate::pattern_size;
use crate::tags::{self, Doc, Tag, note};
use crate::types::{Case, Field, Type, VariantCase};

/// Most levels of nested types. A level is at most four levels of its JSON Schema, and JSON readers
/// commonly stop at 128.
const MAX_DEPTH: usize = 24;
/// Largest size of the types of one function, written out, in bytes. Types share parts in WIT but
/// not in a declaration, so thirty small records can double thirty times over.
const MAX_SIZE: usize = 256 * 1024;
/// Largest size of the types of a whole declaration, written out, in bytes.
const MAX_TOTAL: usize = 32 * 1024 * 1024;
/// Most memory that reading all patterns of a declaration may take, in bytes, with time counted as
/// memory ([`pattern_size`]): reading as much takes about two seconds.
const MAX_PATTERN_BYTES: u64 = 64 << 20;
/// Size of a part of a type besides its name and comment, in bytes.
const PART: usize = 32;

/// Reason for which a type is no tool type.
#[derive(Debug)]
pub(crate) struct Unfit(pub(crate) String);

/// A type with its notes.
pub(crate) type Noted = (Type, Notes);

/// Turns the types of one [`Resolve`] into tool types.
pub(crate) struct Lower<'a> {
    resolve: &'a Resolve,
    size: usize,
    total: usize,
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
            size: 0,
            total: 0,
            pattern_bytes: 0,
            tool: None,
            inside: false,
            findings: Vec::new(),
        }
    }

    /// Starts on another function.
    pub(crate) fn next_function(&mut self, name: String, kind: Kind) {
        self.size = 0;
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
        if of == Kind::Tool && def.and_then(|def| self.of_contract(def)) == Some(item) {
            return Ok((Type::Content, Notes::default()));
        }
        if let Some(TypeDefKind::List(inner)) = def.map(|def| &def.kind)
            && self
                .definition(inner)
                .and_then(|def| self.of_contract(def))
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

    /// Returns the name of a type that belongs to a version of the contract that this crate knows.
    fn of_contract(&self, def: &'a TypeDef) -> Option<&'a str> {
        // Most types are told from these by having no name, or no interface.
        let name = def.name.as_deref()?;
        let TypeOwner::Interface(owner) = def.owner else {
            return None;
        };
        let interface = self.resolve.interfaces.get(owner)?;
        if interface.name.as_deref() != Some("types") {
            return None;
        }
        let package = &self.resolve.packages.get(interface.package?)?.name;
        let version = package.version.as_ref()?;
        let ours = (&*package.namespace, &*package.name) == ("dormouse", "plugin")
            && (version.major, version.minor) == (0, 1);
        ours.then_some(name)
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

    fn spend(&mut self, text: usize) -> Result<(), Unfit> {
        self.size += PART + text;
        self.total += PART + text;
        if self.size > MAX_SIZE {
            return Err(Unfit(format!(
                "its types are larger than {} KiB written out",
                MAX_SIZE / 1024
            )));
        }
        if self.total > MAX_TOTAL {
            return Err(Unfit(format!(
                "all tools together are larger than {} MiB written out",
                MAX_TOTAL / 1024 / 1024
            )));
        }
        Ok(())
    }

    fn lower(&mut self, ty: &wit_parser::Type, depth: usize) -> Result<Noted, Unfit> {
        use wit_parser::Type as Wit;
        self.spend(0)?;
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
                    self.spend(0)?;
                    id = *aliased;
                }
                TypeDefKind::Type(primitive) => break self.lower(primitive, depth)?,
                _ => {
                    let around = self.inside;
                    if let Some(name) = self.of_contract(def).filter(|_| !around) {
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
            self.spend(doc.text.as_ref().map_or(0, String::len))?;
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

    fn defined(&mut self, def: &'a TypeDef, depth: usize) -> Result<Noted, Unfit> {
        let inside = depth + 1;
        let name = def.name.as_deref().unwrap_or("(unnamed)");
        let unfit = |what: String| Err(Unfit(format!("`{what}` is no tool type")));
        Ok(match &def.kind {
            TypeDefKind::Record(record) => {
                let mut fields = Vec::new();
                let mut parts = Vec::new();
                for field in &record.fields {
                    let noted = self.lower(&field.ty, inside)?;
                    let item = format!("{name}.{}", field.name);
                    let (field, notes) = self.field(&field.name, &item, &field.docs, noted)?;
                    fields.push(field);
                    parts.push(notes);
                }
                self.distinct(
                    name,
                    fields.iter_mut().map(|field| (&field.wit, &mut field.json)),
                );
                (Type::Record(fields), Notes::over(parts))
            }
            TypeDefKind::Variant(variant) => {
                let mut cases = Vec::new();
                let mut parts = Vec::new();
                for case in &variant.cases {
                    let value = self.optional(case.ty.as_ref(), inside)?;
                    let (json, description) = self.case(name, &case.name, &case.docs)?;
                    let (ty, notes) = value.unzip();
                    parts.push(Notes {
                        description,
                        ..Notes::over(notes.into_iter().collect())
                    });
                    cases.push(VariantCase {
                        wit: case.name.clone(),
                        json,
                        ty,
                    });
                }
                self.distinct(
                    name,
                    cases.iter_mut().map(|case| (&case.wit, &mut case.json)),
                );
                (Type::Variant(cases), Notes::over(parts))
            }
            TypeDefKind::Enum(cases) => {
                let cases = cases.cases.iter().map(|case| (&*case.name, &case.docs));
                let (cases, notes) = self.cases(name, cases)?;
                (Type::Enum(cases), notes)
            }
            TypeDefKind::Flags(flags) => {
                let flags = flags.flags.iter().map(|flag| (&*flag.name, &flag.docs));
                let (flags, notes) = self.cases(name, flags)?;
                (Type::Flags(flags), notes)
            }
            TypeDefKind::Tuple(tuple) => {
                let mut items = Vec::new();
                let mut parts = Vec::new();
                for item in &tuple.types {
                    let (item, notes) = self.lower(item, inside)?;
                    items.push(item);
                    parts.push(notes);
                }
                (Type::Tuple(items), Notes::over(parts))
            }
            TypeDefKind::Option(inner) => {
                if matches!(
                    self.definition(inner).map(|def| &def.kind),
                    Some(TypeDefKind::Option(_))
                ) {
                    return Err(Unfit(
                        "`option<option<T>>` is no tool type, because null could mean either none"
                            .into(),
                    ));
                }
                let (inner, notes) = self.lower(inner, inside)?;
                (Type::Option(Box::new(inner)), Notes::over(vec![notes]))
            }
            TypeDefKind::Result(result) => {
                let ok = self.optional(result.ok.as_ref(), inside)?;
                let err = self.optional(result.err.as_ref(), inside)?;
                either(ok, err)
            }
            TypeDefKind::List(item) => match self.lower(item, inside)? {
                (Type::U8, _) => (Type::Bytes, Notes::default()),
                (item, notes) => (Type::List(Box::new(item)), Notes::over(vec![notes])),
            },
            TypeDefKind::FixedLengthList(item, n) => {
                let (item, notes) = self.lower(item, inside)?;
                (
                    Type::FixedList(Box::new(item), *n),
                    Notes::over(vec![notes]),
                )
            }
            TypeDefKind::Map(key, value) => {
                let (key, key_notes) = self.lower(key, inside)?;
                let (value, value_notes) = self.lower(value, inside)?;
                (
                    Type::Map(Box::new(key), Box::new(value)),
                    Notes::over(vec![key_notes, value_notes]),
                )
            }
            TypeDefKind::Handle(wit_parser::Handle::Own(id)) => {
                return unfit(format!("own<{}>", self.name(*id)));
            }
            TypeDefKind::Handle(wit_parser::Handle::Borrow(id)) => {
                return unfit(format!("borrow<{}>", self.name(*id)));
            }
            TypeDefKind::Resource => return unfit(format!("resource {name}")),
            TypeDefKind::Future(_) => return unfit("future".into()),
            TypeDefKind::Stream(_) => return unfit("stream".into()),
            TypeDefKind::Type(_) | TypeDefKind::Unknown => return unfit(name.into()),
        })
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

    /// Returns a field of a record from its type and its doc comment.
    fn field(
        &mut self,
        wit: &str,
        item: &str,
        docs: &Docs,
        noted: Noted,
    ) -> Result<(Field, Notes), Unfit> {
        const KNOWN: &[&str] = &[
            "name", "title", "default", "minimum", "maximum", "pattern", "format",
        ];
        let (ty, mut notes) = noted;
        let doc = Doc::parse(docs);
        self.spend(wit.len() + docs.contents.as_ref().map_or(0, String::len))?;
        let mut field = Field {
            wit: wit.to_owned(),
            json: snake_case(wit),
            ty,
            default: None,
        };
        let mut default = None;
        for tag in doc.known(item, KNOWN, &[], &mut self.findings) {
            match tag.name.as_str() {
                "name" => {
                    field.json = tags::text(tag, item, &mut self.findings).unwrap_or(field.json);
                }
                "title" => notes.title = tags::text(tag, item, &mut self.findings),
                "default" => default = tags::json(tag, item, &mut self.findings),
                _ => self.constrain(tag, item, &field.ty, &mut notes),
            }
        }
        // Judged last, when all the constraints are known.
        match (default, &field.ty) {
            (None, _) => {}
            (Some(Value::Null), Type::Option(_)) => notes.nullable = true,
            (Some(value), ty) => match accept(ty, &notes, &value) {
                Ok(()) => field.default = Some(value),
                Err(error) => note(
                    &mut self.findings,
                    Finding::error(item, format!("`@default`: {error}")),
                ),
            },
        }
        if let Some(text) = doc.text {
            notes.description = Some(text + &case_list(&field.ty, &notes));
        }
        Ok((field, notes))
    }

    /// Lowers the cases of an enum, or flags. JSON Schema has no place for their comments, so these
    /// become a list in the description.
    fn cases(
        &mut self,
        name: &str,
        cases: impl Iterator<Item = (&'a str, &'a Docs)>,
    ) -> Result<(Vec<Case>, Notes), Unfit> {
        let mut lowered = Vec::new();
        let mut descriptions = Vec::new();
        for (wit, docs) in cases {
            let (json, description) = self.case(name, wit, docs)?;
            lowered.push(Case {
                wit: wit.to_owned(),
                json,
            });
            descriptions.push(description);
        }
        self.distinct(
            name,
            lowered.iter_mut().map(|case| (&case.wit, &mut case.json)),
        );
        let parts = descriptions.into_iter().map(|description| Notes {
            description,
            ..Notes::default()
        });
        let mut notes = Notes::over(parts.collect());
        notes.description = Some(listed(&lowered, &notes)).filter(|text| !text.is_empty());
        Ok((lowered, notes))
    }

    /// Returns the JSON name and the description of a case.
    fn case(
        &mut self,
        owner: &str,
        wit: &str,
        docs: &Docs,
    ) -> Result<(String, Option<String>), Unfit> {
        self.spend(wit.len() + docs.contents.as_ref().map_or(0, String::len))?;
        let item = format!("{owner}.{wit}");
        let doc = Doc::parse(docs);
        let tag = doc.known(&item, &["name"], &[], &mut self.findings);
        let name = tag
            .first()
            .and_then(|tag| tags::text(tag, &item, &mut self.findings));
        Ok((name.unwrap_or_else(|| snake_case(wit)), doc.text))
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

    /// Adds a constraint to the notes on a type; that on an option goes to the type in it.
    fn constrain(&mut self, tag: &Tag, item: &str, ty: &Type, notes: &mut Notes) {
        let (ty, notes) = match (ty, notes.parts.is_empty()) {
            (Type::Option(inner), false) => match notes.parts.first_mut() {
                Some(part) => (&**inner, part),
                None => return,
            },
            _ => (ty, notes),
        };
        if tag.name == "pattern" {
            let bytes = pattern_size::read_bytes(&tag.text);
            // A pattern that is too large by itself is not read, and has a finding of its own.
            let bytes = bytes.min(pattern_size::MAX_READ_BYTES);
            self.pattern_bytes = self.pattern_bytes.saturating_add(bytes);
            if self.pattern_bytes > MAX_PATTERN_BYTES {
                let message = "this `@pattern` and those before it take too long to be read: they \
                               are too many, or have too many classes such as `\\p{L}`";
                note(&mut self.findings, Finding::error(item, message));
                return;
            }
        }
        match constraint(tag, ty, notes) {
            Ok((keyword, value)) => {
                notes.constraints.insert(keyword, value);
            }
            Err(message) => note(&mut self.findings, Finding::error(item, message)),
        }
    }
}

/// Returns the comments on an enum's cases, to go below the comment on the enum or on the item of
/// its type.
fn case_list(ty: &Type, notes: &Notes) -> String {
    match ty {
        Type::Option(inner) => case_list(inner, notes.part(0)),
        Type::Enum(cases) | Type::Flags(cases) => {
            let list = listed(cases, notes);
            if list.is_empty() {
                list
            } else {
                format!("\n{list}")
            }
        }
        _ => String::new(),
    }
}

fn listed(cases: &[Case], notes: &Notes) -> String {
    let lines = cases.iter().enumerate().filter_map(|(index, case)| {
        let text = notes.part(index).description.as_ref()?;
        Some(format!("- {}: {text}", case.json))
    });
    lines.collect::<Vec<_>>().join("\n")
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

/// Returns a WIT name in the form of JSON names.
pub(crate) fn snake_case(kebab: &str) -> String {
    kebab.replace('-', "_").to_ascii_lowercase()
}
