"""The fields of a form as plain values: what they are, what fits, how to set them."""

from dataclasses import dataclass, field as member
from typing import Any

from pikepdf import FormFieldFlag, Name
from pikepdf.form import (
    CheckboxField,
    ChoiceField,
    DefaultAppearanceStreamGenerator,
    Form,
    RadioButtonGroup,
    TextField,
)

MAX_FIELDS = 2000
MAX_TEXT = 10_000


class FormError(ValueError):
    """With words for the person who fills in the form."""


@dataclass
class Field:
    name: str
    type: str
    value: Any
    page: Any
    required: bool
    read_only: bool
    options: list = member(default_factory=list)
    max_length: Any = None
    editable: bool = False
    wrapped: list = member(default_factory=list)

    def problems(self, value):
        """Why a value does not fit; nothing is written while there is a reason."""
        if self.read_only:
            return ["field %r is read-only" % self.name]
        if self.type == "check box":
            return [] if isinstance(value, bool) else ["field %r is a check box: give true or false" % self.name]
        if self.type in ("signature", "button"):
            return ["field %r is a %s, which cannot be filled" % (self.name, self.type)]
        if isinstance(value, bool):
            return ["field %r is a %s: give a text" % (self.name, self.type)]
        text = text_of(value)
        if len(text) > (self.max_length or MAX_TEXT):
            return ["field %r takes at most %d characters, this has %d" % (self.name, self.max_length or MAX_TEXT, len(text))]
        if self.options and not self.editable and text not in self.options:
            return ["field %r takes one of: %s" % (self.name, ", ".join(map(repr, self.options)))]
        return []

    def make_read_only(self):
        for one in self.wrapped:
            flags = int(one.obj.get(Name.Ff, one._field.flags))
            one.obj.Ff = flags | FormFieldFlag.read_only.value


def walk(pdf):
    """Every field once, in the order of the form. Widgets that share a name are one field."""
    if Name.AcroForm not in pdf.Root:
        return []
    form = Form(pdf, DefaultAppearanceStreamGenerator)
    pages = {annotation.objgen: number for number, page in enumerate(pdf.pages, 1) for annotation in page.get(Name.Annots, [])}
    found = []
    for name, item in form.items():
        wrapped = list(item) if isinstance(item, list) else [item]
        found.append(field_of(name, wrapped, pages))
        if len(found) > MAX_FIELDS:
            raise FormError("the form has more than %d fields" % MAX_FIELDS)
    return found


def field_of(name, wrapped, pages):
    first = wrapped[0]
    one = Field(
        name=name,
        type="button",
        value=None,
        page=page_of(first.obj, pages),
        required=bool(first.is_required),
        read_only=bool(first.is_read_only),
        wrapped=wrapped,
    )
    if isinstance(first, TextField):
        one.type, one.value, one.max_length = "text", str(first.value or ""), first.max_length
    elif isinstance(first, CheckboxField):
        one.type, one.value = "check box", bool(first.checked)
    elif isinstance(first, RadioButtonGroup):
        one.type = "radio buttons"
        one.options = [plain(option.on_value) for option in first.options]
        one.value = plain(first.value) if first.value is not None and plain(first.value) != "Off" else ""
    elif isinstance(first, ChoiceField):
        one.type, one.editable = "choice", bool(first.is_combobox and first.allow_edit)
        one.options = [str(option.export_value) for option in first.options]
        one.value = str(first.value or "")
    elif type(first).__name__ == "SignatureField":
        one.type = "signature"
    return one


def page_of(obj, pages):
    for candidate in [obj, *obj.get(Name.Kids, [])]:
        if candidate.objgen in pages:
            return pages[candidate.objgen]
    return None


def plain(name):
    return str(name).lstrip("/")


def describe(field):
    described = {
        "name": field.name,
        "type": field.type,
        "value": field.value,
        "page": field.page,
        "required": field.required,
        "read_only": field.read_only,
    }
    if field.options:
        described["options"] = field.options
    if field.max_length is not None:
        described["max_length"] = field.max_length
    return described


def set_value(pdf, field, value):
    for wrapped in field.wrapped:
        if field.type == "check box":
            wrapped.checked = value
        elif field.type == "radio buttons":
            wrapped.value = Name("/" + text_of(value))
        else:
            wrapped.value = text_of(value)
    if not text_of(value).isascii() or "\n" in text_of(value):
        # The appearance made here knows one line of few letters; viewers are asked to draw the value themselves.
        pdf.Root.AcroForm.NeedAppearances = True


def text_of(value):
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)
