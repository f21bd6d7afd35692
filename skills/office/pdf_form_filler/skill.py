"""Lists and fills AcroForm fields. A PDF is hostile input to a native library: that is what the cell is for."""

import os
from io import BytesIO

import pikepdf

from fields import FormError, describe, set_value, walk

WORKSPACE = "/workspace"
MAX_BYTES = 32 * 1024 * 1024


def execute(params):
    source = path_of(params["pdf"])
    with open_form(source, params["pdf"]) as pdf:
        if params["action"] == "list":
            if "values" in params or "output" in params:
                raise FormError("values and output belong to the action fill")
            return overview(pdf, params["pdf"])
        return fill(pdf, params)


def path_of(text):
    parts = text.split("/")
    if len(parts) < 2 or parts[0] not in ("forms", "filled") or any(part in ("", ".", "..") for part in parts) or "\\" in text:
        raise FormError("pdf must be a file below forms/ or filled/, such as forms/registration.pdf")
    return os.path.join(WORKSPACE, *parts)


def open_form(source, shown):
    try:
        # Opened by Python: a denial inside the library would not be told apart from a file that is not there.
        with open(source, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise FormError("%s is larger than %d bytes" % (shown, MAX_BYTES))
        return pikepdf.open(BytesIO(data))
    except PermissionError:
        # A denial is for the caller to see as such.
        raise
    except (FileNotFoundError, IsADirectoryError):
        raise FormError("there is no file %s in the workspace" % shown) from None
    except pikepdf.PasswordError:
        raise FormError("%s is encrypted; give a copy without a password" % shown) from None
    except pikepdf.PdfError as error:
        raise FormError("%s is no PDF that can be read: %s" % (shown, str(error)[:200])) from None


def overview(pdf, shown):
    fields = walk(pdf)
    return {"pdf": shown, "pages": len(pdf.pages), "fields": [describe(field) for field in fields]}


def fill(pdf, params):
    values = params.get("values")
    if not values:
        raise FormError("fill needs values: an object with the names of fields")
    target = target_of(params)
    fields = {field.name: field for field in walk(pdf)}
    unknown = sorted(set(values) - set(fields))
    if unknown:
        raise FormError("the form has no field %s; it has: %s" % (", ".join(map(repr, unknown)), ", ".join(sorted(fields)) or "none"))
    problems = [problem for name in values for problem in fields[name].problems(values[name])]
    if problems:
        raise FormError("; ".join(problems))
    for name, value in values.items():
        set_value(pdf, fields[name], value)
    after = walk(pdf)
    if params.get("lock", False):
        for field in after:
            field.make_read_only()
    # Written as a whole or not at all: a half file would look like a filled one.
    draft = target + ".part"
    pdf.save(draft, deterministic_id=True)
    os.replace(draft, target)
    return {
        **overview(pdf, params["pdf"]),
        "output": os.path.relpath(target, WORKSPACE),
        "filled": sorted(values),
        "missing_required": [field.name for field in after if field.required and field.value in ("", None)],
    }


def target_of(params):
    name = params.get("output", params["pdf"].split("/")[-1])
    if "/" in name or "\\" in name or name.startswith(".") or not name.lower().endswith(".pdf"):
        raise FormError("output must be the name of a PDF without folders, such as registration.pdf")
    return os.path.join(WORKSPACE, "filled", name)
