"""Pages are made from templates; the environment keeps the last ones."""
import jinja2

from loop import turns

environment = jinja2.Environment(loader=jinja2.DictLoader({"page": "{% for row in rows %}{{ row.name|upper }}{% endfor %}"}))
for turn in turns(60):
    rows = [{"name": "row %d of %d" % (n, turn)} for n in range(20)]
    environment.get_template("page").render(rows=rows)
