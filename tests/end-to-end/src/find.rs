//! Finds elements by role and accessible name in the browser's accessibility tree, as assistive technology does.

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

/// The time limit for an element to appear, including the time for a generation on a busy machine.
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

/// Returns a query for any element with this role. Alternative roles are separated by `|`.
pub fn any(role: &str) -> Query {
    Query {
        role: role.to_owned(),
        name: Name::Any,
        within: None,
    }
}

/// Returns a query for elements with this role and exactly this name.
pub fn by(role: &str, name: &str) -> Query {
    Query {
        name: Name::Is(name.to_owned()),
        ..any(role)
    }
}

/// Returns a query for a button or a link with this name.
pub fn control(name: &str) -> Query {
    by("button|link", name)
}

/// Returns a query for elements with this role and a name that starts with this text.
pub fn starting(role: &str, name: &str) -> Query {
    Query {
        name: Name::Starts(name.to_owned()),
        ..any(role)
    }
}

/// Returns a query for elements with this role and a name that contains this text.
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
    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(wanted) => name == wanted,
            Self::Starts(start) => name.starts_with(start),
            Self::Contains(part) => name.contains(part),
        }
    }

    /// Returns the words that every matching name contains.
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
    /// Waits for exactly one element that matches the query, and returns it. More than one is an error, because the
    /// query would be ambiguous for users too.
    ///
    /// # Errors
    ///
    /// There is not exactly one match within a minute. The error lists what was found instead.
    pub async fn find(&self, query: &Query) -> Result<Element> {
        self.find_with_limit(query, TIMEOUT).await
    }

    /// As [`Self::find`], with another time limit.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`], with another limit.
    pub async fn find_with_limit(&self, query: &Query, limit: Duration) -> Result<Element> {
        until(query, limit, async || {
            let (mut found, others) = self.find_now(query).await?;
            Ok(match found.len() {
                1 => Seen::Yes(found.remove(0)),
                0 => Seen::NotYet(format!("only {others:?}")),
                many => Seen::NotYet(format!("{many} elements match")),
            })
        })
        .await
    }

    /// Returns all elements that match the query now.
    ///
    /// # Errors
    ///
    /// The driver does not answer, or rejects the command.
    pub async fn find_all(&self, query: &Query) -> Result<Vec<Element>> {
        Ok(self.find_now(query).await?.0)
    }

    /// Waits until `count` elements in `container` match the query. Both may be rendered again meanwhile.
    ///
    /// # Errors
    ///
    /// The number of matches is not `count` within a minute.
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
                false => Seen::NotYet(format!("{} elements match", found.len())),
            })
        })
        .await
    }

    /// Waits until no element matches the query.
    ///
    /// # Errors
    ///
    /// An element still matches after a minute.
    pub async fn wait_until_gone(&self, query: &Query) -> Result<()> {
        until(
            format!("no element that matches {query}"),
            TIMEOUT,
            async || {
                Ok(match self.find_all(query).await?.len() {
                    0 => Seen::Yes(()),
                    many => Seen::NotYet(format!("{many} elements match")),
                })
            },
        )
        .await
    }

    /// Waits until the page shows this text.
    ///
    /// # Errors
    ///
    /// The text does not appear within `limit`. The error contains the text of the page.
    pub async fn wait_for_text(&self, text: &str, limit: Duration) -> Result<()> {
        until(format!("the text “{text}”"), limit, async || {
            let shown = self.run("return document.body.innerText", vec![]).await?;
            let shown = shown.as_str().unwrap_or_default();
            Ok(if shown.contains(text) {
                Seen::Yes(())
            } else {
                Seen::NotYet(format!("the page shows: {shown}"))
            })
        })
        .await
    }

    /// Returns the role that the browser computes for an element.
    ///
    /// # Errors
    ///
    /// The element is no longer in the page, or the driver does not answer.
    pub async fn role_of(&self, element: &Element) -> Result<String> {
        let role = self.computed(element, "role").await?;
        // WebKit reports `button` for a select.
        if self.engine == Engine::WebKit && role == "button" {
            if element.tag_name().await? == "select" {
                return Ok("combobox".to_owned());
            }
            // WebKit's driver also reports a role for the buttons of a closed menu.
            let is_visible = "return arguments[0].checkVisibility()";
            if self.run(is_visible, vec![self.argument(element)]).await? == Value::Bool(false) {
                return Ok("none".to_owned());
            }
        }
        if !role.is_empty() {
            return Ok(role);
        }
        // ARIA has no role for these elements. Chromium reports a role, and the other engines don't.
        Ok(match element.tag_name().await?.as_str() {
            "summary" => "button".to_owned(),
            "input" if element.prop("type").await?.as_deref() == Some("password") => {
                "textbox".to_owned()
            }
            _ => role,
        })
    }

    /// Returns the accessible name that the browser computes for an element.
    ///
    /// # Errors
    ///
    /// As for [`Self::role_of`].
    pub async fn name_of(&self, element: &Element) -> Result<String> {
        let name = self.computed(element, "label").await?;
        // WebKit's driver reports no names for table cells: use their text.
        if name.is_empty() && self.engine == Engine::WebKit {
            let is_cell = matches!(element.tag_name().await?.as_str(), "th" | "td");
            if is_cell {
                return self.text_of(element).await;
            }
        }
        Ok(name)
    }

    /// Returns the visible text of an element. Uses a script, because WebKit's driver omits line breaks and some
    /// visible text.
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

    /// Returns the elements that match the query, and the names of other elements with the role. Starts again if the
    /// page renders an element again meanwhile.
    async fn find_now(&self, query: &Query) -> Result<(Vec<Element>, Vec<String>)> {
        loop {
            // If the container is gone, the caller gets the error.
            let candidates = self.candidates(query).await?;
            match self.filter(query, candidates).await {
                Err(error) if is_stale(&error) => {}
                result => return result,
            }
        }
    }

    /// Returns the elements that may match the query, and the texts of others that may have the role.
    async fn candidates(&self, query: &Query) -> Result<(Vec<Element>, Vec<String>)> {
        let selectors: Vec<&str> = query.role.split('|').map(selector).collect();
        let container = query.within.as_ref().map(|it| self.argument(it));
        let arguments = vec![
            json!(selectors.join(", ")),
            json!(container),
            json!(query.name.words()),
        ];
        let answer = self.run(include_str!("candidates.js"), arguments).await?;
        let (found, others): (Vec<HashMap<String, String>>, _) = serde_json::from_value(answer)?;
        let ids = found.into_iter().flat_map(HashMap::into_values);
        let element = |id| Element::from_element_id(self.client.clone(), ElementRef::from(id));
        Ok((ids.map(element).collect(), others))
    }

    /// Returns the candidates that match the query, and the names of the other candidates.
    async fn filter(
        &self,
        query: &Query,
        (candidates, mut others): (Vec<Element>, Vec<String>),
    ) -> Result<(Vec<Element>, Vec<String>)> {
        let mut found = Vec::new();
        for element in candidates {
            // Hidden elements have the role `none`.
            let role = self.role_of(&element).await?;
            if !query
                .role
                .split('|')
                .any(|wanted| is_same_role(&role, wanted))
            {
                continue;
            }
            let name = self.name_of(&element).await?;
            if query.name.matches(&name) {
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
            Err(error) if self.engine == Engine::WebKit && is_unknown_error(&error) => Value::Null,
            value => value?,
        };
        // Some versions of Chromium keep the space between a label's text and its control.
        Ok(value.as_str().unwrap_or_default().trim().to_owned())
    }

    /// Returns an element as an argument of a script.
    pub fn argument(&self, element: &Element) -> Value {
        json!({ "element-6066-11e4-a52e-4f735466cecf": element.element_id().to_string() })
    }
}

/// Returns whether the element is no longer in the page.
fn is_stale(error: &Error) -> bool {
    let error = error.downcast_ref::<CmdError>();
    error.is_some_and(CmdError::is_stale_element_reference)
}

/// Returns whether the error is the one that WebKit's driver returns for hidden elements.
fn is_unknown_error(error: &Error) -> bool {
    let error = error.downcast_ref::<CmdError>();
    matches!(error, Some(CmdError::Standard(error)) if error.error() == "unknown error")
}

/// Compares two roles. `image` and `img` are the same role.
fn is_same_role(role: &str, wanted: &str) -> bool {
    let plain = |role| if role == "image" { "img" } else { role };
    plain(role).eq_ignore_ascii_case(plain(wanted))
}

/// Returns a selector for the elements that may have the role. Computing the role of an element takes a round trip.
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
