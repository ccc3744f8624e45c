//! Exports of the contract that take requests by name.

use dormouse_wit::{Export, Field, Function, Type, VariantCase, contract};

/// An export of the contract that takes requests by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContractExport {
    CallTool,
    GetPrompt,
    ReadResource,
    Complete,
}

impl ContractExport {
    pub(crate) const ALL: [Self; 4] = [
        Self::CallTool,
        Self::GetPrompt,
        Self::ReadResource,
        Self::Complete,
    ];

    /// Returns its name.
    pub(crate) fn export(self) -> Export {
        let (interface, function) = match self {
            Self::CallTool => ("adapter", "call-tool"),
            Self::GetPrompt => ("prompts", "get-prompt"),
            Self::ReadResource => ("resources", "read-resource"),
            Self::Complete => ("completion", "complete"),
        };
        Export {
            interface: Some(contract::interface(interface)),
            function: function.into(),
        }
    }

    /// Checks whether a signature is the one that the contract has for it.
    pub(crate) fn is_of_contract(self, signature: &Function) -> bool {
        let case = |wit: &str, ty| VariantCase {
            wit: wit.to_owned(),
            json: wit.to_owned(),
            ty,
        };
        let member = |wit: &str, ty| Field {
            wit: wit.to_owned(),
            json: wit.to_owned(),
            ty,
            default: None,
        };
        let text = || Type::String;
        let (params, ok, err) = match self {
            Self::CallTool | Self::GetPrompt => (vec![text(), text()], text(), text()),
            Self::ReadResource => {
                let error = [case("not-found", None), case("failed", Some(text()))];
                (vec![text()], text(), Type::Variant(error.into()))
            }
            Self::Complete => {
                let of = ["prompt", "template"].map(|of| case(of, Some(text())));
                let context = Type::List(Box::new(Type::Tuple(vec![text(), text()])));
                let completions = [
                    member("values", Type::List(Box::new(text()))),
                    member("total", Type::Option(Box::new(Type::U32))),
                    member("has-more", Type::Bool),
                ];
                let params = vec![Type::Variant(of.into()), text(), text(), context];
                (params, Type::Record(completions.into()), text())
            }
        };
        let result = Type::Result {
            ok: Some(Box::new(ok)),
            err: Some(Box::new(err)),
        };
        signature.params.iter().map(|param| &param.ty).eq(&params)
            && signature.result == Some(result)
    }
}
