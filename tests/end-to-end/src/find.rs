//! Finding elements by role and accessible name, as the browser's own accessibility tree gives
//! them: what a test can find, assistive technology can find.

use crate::browser::Browser;
use crate::engine::Engine;
use crate::wait::{Seen, until};
use crate::{Error, Result};
use fantoccini::elements::{Element, ElementRef};
use fantoccini::error::CmdError;
use hyper::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

/// How long anything may take to be there on a busy machine: a generation, too.
const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct Query {
    role: String,
    name: Name,
    within: Option<Element>,
}

#[derive(Clone, Debug)]
enum Name {
    Any,
    Is(String),
    Starts(String),
    Contains(String),
}

/// Anything of this role.
pub fn any(role: &str) -> Query {
    Query {
        role: role.to_owned(),
        name: Name::Any,
        within: None,
    }
}

/// What has this role and exactly this name.
pub fn by(role: &str, name: &str) -> Query {
    Query {
        name: Name::Is(name.to_owned()),
        ..any(role)
    }
}

/// A button or a link of this name: people press both, and which it is does not matter to them.
pub fn control(name: &str) -> Query {
    by("button|link", name)
}

/// What has this role and a name that begins like this.
pub fn starting(role: &str, name: &str) -> Query {
    Query {
        name: Name::Starts(name.to_owned()),
        ..any(role)
    }
}

/// What has this role and a name with this in it.
pub fn containing(role: &str, name: &str) -> Query {
    Query {
        name: Name::Contains(name.to_owned()),
        ..any(role)
    }
}

impl Query {
    pub fn within(self, element: &Element) -> Self {
        Self {
            within: Some(element.clone()),
            ..self
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.name {
            Name::Any => write!(f, "a {}", self.role),
            Name::Is(name) => write!(f, "{} “{name}”", self.role),
            Name::Starts(name) => write!(f, "{} “{name}…”", self.role),
            Name::Contains(name) => write!(f, "{} “…{name}…”", self.role),
        }
    }
}

impl Name {
    fn fits(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(wanted) => name == wanted,
            Self::Starts(start) => name.starts_with(start),
            Self::Contains(part) => name.contains(part),
        }
    }

    /// Words that every fitting name contains.
    fn words(&self) -> Vec<&str> {
        match self {
            Self::Any => Vec::new(),
            Self::Is(text) | Self::Starts(text) | Self::Contains(text) => {
                text.split_whitespace().collect()
            }
        }
    }
}

impl Browser {
    /// The one element that answers the query; waits for it. More than one is an error: a person
    /// would not know which is meant either.
    ///
    /// # Errors
    ///
    /// There is not exactly one within a minute; the error says what was there instead.
    pub async fn find(&self, query: &Query) -> Result<Element> {
        self.find_for(query, TIMEOUT).await
    }

    /// The same with a time limit of its own.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`], with another limit.
    pub async fn find_for(&self, query: &Query, limit: Duration) -> Result<Element> {
        until(query, limit, async || {
            let (mut found, others) = self.look(query).await?;
            Ok(match found.len() {
                1 => Seen::Yes(found.remove(0)),
                0 => Seen::NotYet(format!("there are {others:?}")),
                many => Seen::NotYet(format!("there are {many} of them")),
            })
        })
        .await
    }

    /// All that answer the query now.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or refuses the command.
    pub async fn find_all(&self, query: &Query) -> Result<Vec<Element>> {
        Ok(self.look(query).await?.0)
    }

    /// Waits until so many elements in `container` answer the query; both may be drawn anew meanwhile.
    ///
    /// # Errors
    ///
    /// There is another number of them for a minute.
    pub async fn find_in(
        &self,
        container: &Query,
        query: &Query,
        count: usize,
    ) -> Result<Vec<Element>> {
        until(format!("{count} times {query}"), TIMEOUT, async || {
            let container = self.find(container).await?;
            let found = self.find_all(&query.clone().within(&container)).await?;
            Ok(match found.len() == count {
                true => Seen::Yes(found),
                false => Seen::NotYet(format!("there are {}", found.len())),
            })
        })
        .await
    }

    /// Waits until nothing answers the query any more.
    ///
    /// # Errors
    ///
    /// Something still does after a minute.
    pub async fn find_gone(&self, query: &Query) -> Result<()> {
        until(format!("no more {query}"), TIMEOUT, async || {
            Ok(match self.find_all(query).await?.len() {
                0 => Seen::Yes(()),
                many => Seen::NotYet(format!("there are {many}")),
            })
        })
        .await
    }

    /// Waits until the page shows this text somewhere.
    ///
    /// # Errors
    ///
    /// It does not show it within `limit`; the error says what it shows.
    pub async fn see_text(&self, text: &str, limit: Duration) -> Result<()> {
        until(format!("the text “{text}”"), limit, async || {
            let shown = self.run("return document.body.innerText", vec![]).await?;
            let shown = shown.as_str().unwrap_or_default();
            Ok(if shown.contains(text) {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("the page says: {shown}"))
            })
        })
        .await
    }

    /// The role that the browser gives an element.
    ///
    /// # Errors
    ///
    /// The element is no longer in the page, or the driver does not answer.
    pub async fn role_of(&self, element: &Element) -> Result<String> {
        let role = self.computed(element, "role").await?;
        // To WebKit a select is a button that opens a menu.
        if self.engine == Engine::WebKit && role == "button" {
            if element.tag_name().await? == "select" {
                return Ok("combobox".to_owned());
            }
            // Its driver gives those of a closed menu a role, too.
            let seen = "return arguments[0].checkVisibility()";
            if self.run(seen, vec![self.argument(element)]).await? == Value::Bool(false) {
                return Ok("none".to_owned());
            }
        }
        if !role.is_empty() {
            return Ok(role);
        }
        // ARIA has no role for these: Chromium gives them one, the others say nothing.
        Ok(match element.tag_name().await?.as_str() {
            "summary" => "button".to_owned(),
            "input" if element.prop("type").await?.as_deref() == Some("password") => {
                "textbox".to_owned()
            }
            _ => role,
        })
    }

    /// The accessible name that the browser gives an element.
    ///
    /// # Errors
    ///
    /// As for [`Self::role_of`].
    pub async fn name_of(&self, element: &Element) -> Result<String> {
        let name = self.computed(element, "label").await?;
        // WebKit's driver has no names for the cells of tables, which are what they say.
        if name.is_empty() && self.engine == Engine::WebKit {
            let is_cell = matches!(element.tag_name().await?.as_str(), "th" | "td");
            if is_cell {
                return self.text_of(element).await;
            }
        }
        Ok(name)
    }

    /// What it says. WebKit's driver leaves out line breaks, and some of what is seen.
    ///
    /// # Errors
    ///
    /// As for [`Self::role_of`].
    pub async fn text_of(&self, element: &Element) -> Result<String> {
        let text = self
            .run(
                "return arguments[0].innerText",
                vec![self.argument(element)],
            )
            .await?;
        Ok(text.as_str().unwrap_or_default().trim().to_owned())
    }

    /// What answers the query, and the names of what has the role but another name. A page that is
    /// drawn anew while its elements are asked is looked at from the start.
    async fn look(&self, query: &Query) -> Result<(Vec<Element>, Vec<String>)> {
        loop {
            // Of a container that is gone the error is the caller's.
            let candidates = self.candidates(query).await?;
            match self.judge(query, candidates).await {
                Err(error) if is_stale(&error) => {}
                judged => return judged,
            }
        }
    }

    /// The elements that may answer the query, and what others of such a role say.
    async fn candidates(&self, query: &Query) -> Result<(Vec<Element>, Vec<String>)> {
        let selectors: Vec<&str> = query.role.split('|').map(selector).collect();
        let container = query.within.as_ref().map(|it| self.argument(it));
        let arguments = vec![
            json!(selectors.join(", ")),
            json!(container),
            json!(query.name.words()),
        ];
        let answer = self.run(include_str!("may_be_named.js"), arguments).await?;
        let (found, others): (Vec<HashMap<String, String>>, _) = serde_json::from_value(answer)?;
        let ids = found.into_iter().flat_map(HashMap::into_values);
        let element = |id| Element::from_element_id(self.client.clone(), ElementRef::from(id));
        Ok((ids.map(element).collect(), others))
    }

    async fn judge(
        &self,
        query: &Query,
        (candidates, mut others): (Vec<Element>, Vec<String>),
    ) -> Result<(Vec<Element>, Vec<String>)> {
        let mut found = Vec::new();
        for element in candidates {
            // What is hidden from people has the role `none`.
            let role = self.role_of(&element).await?;
            if !query.role.split('|').any(|wanted| same_role(&role, wanted)) {
                continue;
            }
            let name = self.name_of(&element).await?;
            if query.name.fits(&name) {
                found.push(element);
            } else {
                others.push(name);
            }
        }
        Ok((found, others))
    }

    async fn computed(&self, element: &Element, what: &str) -> Result<String> {
        let path = format!("element/{}/computed{what}", element.element_id());
        let value = match self.command(Method::GET, path, None).await {
            Err(error) if self.engine == Engine::WebKit && is_unknown(&error) => Value::Null,
            value => value?,
        };
        // Some versions of Chromium leave the space between a label's text and its control.
        Ok(value.as_str().unwrap_or_default().trim().to_owned())
    }

    /// An element as an argument of a script.
    pub fn argument(&self, element: &Element) -> Value {
        json!({ "element-6066-11e4-a52e-4f735466cecf": element.element_id().to_string() })
    }
}

/// The page has no such element any more.
fn is_stale(error: &Error) -> bool {
    let error = error.downcast_ref::<CmdError>();
    error.is_some_and(CmdError::is_stale_element_reference)
}

/// WebKit's driver answers so when asked about what is hidden.
fn is_unknown(error: &Error) -> bool {
    let error = error.downcast_ref::<CmdError>();
    matches!(error, Some(CmdError::Standard(error)) if error.error() == "unknown error")
}

/// Browsers and the ARIA specification have two words for a picture.
fn same_role(role: &str, wanted: &str) -> bool {
    let plain = |role| if role == "image" { "img" } else { role };
    plain(role).eq_ignore_ascii_case(plain(wanted))
}

/// The elements that may have the role; only these are asked, since each answer is a round trip.
fn selector(role: &str) -> &'static str {
    match role {
        "alert" => "[role=alert]",
        "article" => "article, [role=article]",
        "button" => {
            "button, summary, input[type=button], input[type=submit], input[type=file], \
             [role=button]"
        }
        "cell" => "td, [role=cell]",
        "checkbox" => "input[type=checkbox], [role=checkbox]",
        "columnheader" => "th, [role=columnheader]",
        "combobox" => "select, input[list], [role=combobox]",
        "dialog" => "dialog, [role=dialog]",
        "DisclosureTriangle" => "summary",
        "form" => "form, [role=form]",
        "group" => "fieldset, details, [role=group]",
        "heading" => "h1, h2, h3, h4, h5, h6, [role=heading]",
        "img" | "image" => "img, svg, [role=img]",
        "link" => "a[href], [role=link]",
        "list" => "ul, ol, menu, [role=list]",
        "listitem" => "li, [role=listitem]",
        "navigation" => "nav, [role=navigation]",
        "progressbar" => "progress, [role=progressbar]",
        "radio" => "input[type=radio], [role=radio]",
        "region" => "section, [role=region]",
        "rowheader" => "th, [role=rowheader]",
        "searchbox" => "input[type=search], [role=searchbox]",
        "slider" => "input[type=range], [role=slider]",
        "spinbutton" => "input[type=number], [role=spinbutton]",
        "status" => "output, [role=status]",
        "switch" => "[role=switch], input[switch]",
        "tab" => "[role=tab]",
        "table" => "table, [role=table]",
        "textbox" => {
            "textarea, input:not([type]), input[type=text], input[type=url], input[type=password], \
             input[type=email], [role=textbox]"
        }
        _ => "*",
    }
}
