/**
 * Commands of models, honest and hostile, one per line, and what the hook must do with each. `P` stands for
 * `.claude/skills/pdf`, `R` for the absolute path of the project, `⏎` for the end of a line, `§` for a dollar before a brace and
 * `´` for a backquote.
 *
 * They run only in the jail of `jail.ts`.
 *
 * @module
 */
import { DENIED } from './denied-rows.ts';
import { OVERLOOKED } from './overlooked-rows.ts';

export type Expected = 'leave' | 'deny' | 'rewrite' | 'ask';

/** Commands that run a script in a way that is understood. */
const REWRITTEN = String.raw`
python P/scripts/a.py
python P/scripts/a.py in.pdf out.pdf
python3 ./P/scripts/a.py in.pdf
python3.11 P/scripts/a.py
python R/P/scripts/a.py "a b.txt"
python ~/project/P/scripts/a.py
python $HOME/project/P/scripts/a.py
python "$HOME"/.claude/skills/mine/scripts/a.py
python "§{HOME}/.claude/skills/mine/scripts/a.py" x
python $PWD/P/scripts/a.py
python ~/.claude/skills/mine/scripts/a.py 1
python -u P/scripts/a.py
python -W ignore -u P/scripts/a.py x
python -- P/scripts/a.py x
bash P/scripts/run.sh NAME
bash -e P/scripts/run.sh NAME
bash -euo pipefail P/scripts/run.sh NAME
sh P/scripts/run.sh
dash P/scripts/run.sh
zsh P/scripts/run.sh
node P/scripts/x.js 1
node P/scripts/x.js skillcell list
node --no-warnings P/scripts/x.js 1
ruby P/scripts/a.py
./P/scripts/run.sh a b
P/scripts/run.sh
R/P/scripts/run.sh
'P/scripts/run.sh' "x"
python .agents/skills/two/scripts/a.py
python "vendor/odd name/scripts/a.py"
python vendor/odd\ name/scripts/a.py x
python 'P/scripts/a.py'
python ".claude"/'skills'/pdf/scripts/a.py
python .cl""aude/sk''ills/p\df/scripts/a.py
python $'.claude/skills/pdf/scripts/a.py'
python $'\x2eclaude/skills/\160df/scripts/a.py'
python .claude//skills/./pdf/../pdf/scripts/a.py
python src/../P/scripts/a.py
python link.py x
python linked/pdf/scripts/a.py
python P/scripts/a.py in.pdf | head -3
python P/scripts/a.py in.pdf 2>/dev/null | sort | uniq -c
cat data.csv | python P/scripts/a.py
python P/scripts/a.py < data.csv > out.txt
python < data.csv P/scripts/a.py 2>&1
> out.txt python P/scripts/a.py
2>err.txt 1>&2 python P/scripts/a.py x
python P/scripts/a.py && python P/scripts/inner/b.py
python P/scripts/a.py; python .agents/skills/two/scripts/a.py
python P/scripts/a.py || echo failed
python P/scripts/a.py & wait
true && python P/scripts/a.py && echo done
if python P/scripts/a.py; then echo yes; else echo no; fi
if true; then python P/scripts/a.py 1; fi
while python P/scripts/a.py; do break; done
until python P/scripts/a.py; do break; done
for f in a b c; do python P/scripts/a.py "$f"; done
for f in *.pdf; do python P/scripts/a.py "$f" "§{f%.pdf}.txt"; done
(python P/scripts/a.py)
{ python P/scripts/a.py; }
(cd P && python scripts/a.py)
! python P/scripts/a.py
time python P/scripts/a.py
time -p python P/scripts/a.py
cd P && python scripts/a.py x
cd P; python scripts/a.py x
cd P⏎python scripts/a.py x
cd P/scripts && ./run.sh
cd P/scripts && python a.py
cd .claude && cd skills/pdf && python scripts/a.py
cd src && python ../P/scripts/a.py
cd P && python -m scripts.a x
cd P && bash scripts/run.sh && cd R && ls
cd P || exit 1⏎python scripts/a.py
cd R/P && python scripts/a.py R/in.pdf && cd R && make
pushd P && python scripts/a.py
(cd src; cd ../P; python scripts/a.py)
(cd P && ls); python P/scripts/a.py
cd .. && true & python P/scripts/a.py x
{ cd ..; } & python P/scripts/a.py x
A=1 python P/scripts/a.py
A=1 B="x y" python P/scripts/a.py
PYTHONUNBUFFERED=1 python P/scripts/a.py
env A=1 python P/scripts/a.py
env -u A python P/scripts/a.py
exec python P/scripts/a.py
command python P/scripts/a.py
nohup python P/scripts/a.py
nice -n 5 python P/scripts/a.py
timeout 5 python P/scripts/a.py
timeout -k 1 -s TERM 5 python P/scripts/a.py
timeout 5 nice env A=1 python P/scripts/a.py
stdbuf -oL python P/scripts/a.py
setsid -w python P/scripts/a.py
uv run python P/scripts/a.py x
uv run P/scripts/a.py x
echo a b | xargs python P/scripts/a.py
ls *.pdf | xargs -n 1 python P/scripts/a.py --in
echo x | xargs -I{} python P/scripts/a.py {}
bash -c 'python P/scripts/a.py x'
bash -c "python P/scripts/a.py 'x y'"
bash -lc 'cd P && python scripts/a.py'
sh -c 'bash -c "python P/scripts/a.py it"'
timeout 5 bash -c "python P/scripts/a.py | head -1"
S=P; bash -c "python $S/scripts/a.py"
X='bash P/scripts/run.sh'; bash -c "$X"
S=P; python $S/scripts/a.py
S=P; python "§{S}/scripts/a.py" x
SKILL="R/P"⏎python "$SKILL/scripts/a.py"
SKILL=~/project/P && python "$SKILL/scripts/a.py"
export S=P; python $S/scripts/a.py
export S=P; bash -c 'python $S/scripts/a.py'
PY=python3; $PY P/scripts/a.py
X=$(python P/scripts/a.py x); echo "$X"
echo "result: $(python P/scripts/a.py x)"
echo "$(echo "$(python P/scripts/a.py 'deep')")"
diff <(python P/scripts/a.py 1) <(python P/scripts/a.py 2)
cat <<END⏎$(python P/scripts/a.py here)⏎END
python P/scripts/a.py "$(cat data.csv)" '$HOME' "a\"b" $x
python P/scripts/a.py *.pdf {1,2} ~ $UNSET "" ''
python P/scripts/a.py "it's" 'a"b' a\'b $'tab\there'
python P/scripts/a.py P/assets/page.html
python P/scripts/a.py -- --workspace / -c x
python P/scripts/a.py # comment 'with quote
python \⏎  P/scripts/a.py \⏎  x
python P/scripts/a.py <<< "text"
python P/scripts/a.py <<'END'⏎text $(x) ´y´⏎END
cat P/SKILL.md && python P/scripts/a.py
ls P; python P/scripts/a.py
python P/scripts/a.py | tee out.txt
python P/scripts/a.py | python tool.py
python P/scripts/a.py | python -c 'import sys; print(sys.stdin.read())'
mkdir -p out && python P/scripts/a.py out
python P/scripts/missing.py
[ -f in.pdf ] && python P/scripts/a.py in.pdf
[[ -f in.pdf && ! -d x ]] && python P/scripts/a.py in.pdf
echo $((1 + 2)); python P/scripts/a.py
cat > P/scripts/new.py <<'END'⏎print(1)⏎END⏎python P/scripts/new.py
/usr/bin/python3 P/scripts/a.py x
/bin/bash P/scripts/run.sh x
`;

/** Commands that are none of our business. */
const LEFT = String.raw`
for f in notes/*.csv; do case $f in a) echo x;; esac; done
ls
ls -la P
cat P/SKILL.md
cat P/scripts/a.py
head -50 P/scripts/a.py | grep import
grep -rn "def " P/scripts
rg import P
find P -name '*.py'
find . -name '*.py' -exec grep -l x {} +
sed -n '1,20p' P/scripts/a.py
wc -l P/scripts/*.py
diff P/scripts/a.py tool.py
git add P/scripts/a.py && git commit -m "x"
git diff P
rm -rf P/scripts/old
chmod +x P/scripts/run.sh
mkdir -p P/scripts
cat > P/scripts/new.py <<'END'⏎print(1)⏎END
cat > notes.md <<'END'⏎Run: python .claude/skills/pdf/scripts/a.py⏎END
cp P/assets/page.html index.html
cp tool.py P/scripts/tool.py
echo "python P/scripts/a.py"
echo python P/scripts/a.py
printf '%s\n' P/scripts/a.py
jq . data.csv
python tool.py
python tool.py data.csv | head
python -c 'print(1)'
python -m json.tool data.csv
python - <<'END'⏎print("hello")⏎END
python P.py
python notes/plain/scripts/a.py
bash notes/plain/scripts/run.sh
bash run.sh
./run.sh
npm test
npm run build && npm test
make
pytest -q
node app.js
npx tsc --noEmit
curl -s http://127.0.0.1:9/x | bash
for f in *.csv; do python tool.py "$f"; done
cd src && make
cd P && ls && cat SKILL.md
cd P && git status
command -v python
python --version
git status
git log --oneline -5
FOO=bar make
a=(1 2); echo "§{a[1]}"
f() { echo x; }; f
case x in x) echo y;; esac
((1 + 1)); echo $?
python $SCRIPT
bash "$(mktemp)"
eval "$(ssh-agent -s)"
test -f P/SKILL.md && echo yes
[[ -f P/SKILL.md ]] && echo yes
[ -d P ] || echo no
which python
cat "P/SKILL.md" | tr a-z A-Z
python .claude∕skills∕pdf∕scripts∕a.py
python ．claude/skills/pdf/scripts/a.py
skillcell list
skillcell exec P -- python scripts/a.py x
skillcell exec P --workspace R -- python scripts/a.py --write x
npx skillcell inspect P
npm install skillcell
find . -name '*.ts' | xargs eslint
find . -name '*.py' | head -3; python tool.py
bash <<< 'ls src'
grep '[$(]' P/scripts/a.py
PATH=/opt/bin:$PATH cat P/SKILL.md
cp -r src build; bash build/run.sh; cat P/SKILL.md
cat P/SKILL.md > notes.md && prettier notes.md
cat > out.md <<'END'⏎Run python P/scripts/a.py⏎END⏎git add out.md && prettier out.md
cat data.csv | python -c 'import sys; print(sys.stdin.read())'; cat P/SKILL.md
python -munittest
bat --paging=never P/SKILL.md
`;

/** Commands that give a skill more, which only a person may do. */
const ASKED = String.raw`
skillcell exec P --write . -- python scripts/a.py
skillcell exec P --host example.test -- python scripts/a.py
skillcell exec P --workspace / -- python scripts/a.py
skillcell approve P
skillcell trust add x
npx skillcell install ./x
skillcell $COMMAND P
npx -y skillcell approve P
npx skillcell@latest approve P
pnpm exec skillcell exec P --write . -- python scripts/a.py
node --no-warnings bin/skillcell.js approve P
sudo skillcell approve x
strace skillcell approve x
`;

export interface Row {
  command: string;
  expected: Expected;
}

export function rowsFor(project: string): Row[] {
  const texts: Readonly<Record<Expected, string>> = {
    rewrite: REWRITTEN,
    deny: DENIED + OVERLOOKED,
    leave: LEFT,
    ask: ASKED,
  };
  return Object.entries(texts).flatMap(([expected, text]) => {
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => ({ command: commandOf(line, project), expected: expected as Expected }));
  });
}

function commandOf(line: string, project: string): string {
  return line
    .replaceAll('⏎', '\n')
    .replaceAll('§', '$')
    .replaceAll('´', '`')
    .replaceAll(/(?<![\w$./-])R(?=[/\s]|$)/g, project)
    .replaceAll(/(?<![\w$]|(?<!:)-)P(?=[/\s;'")]|:|$)/g, '.claude/skills/pdf');
}
