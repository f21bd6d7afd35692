/**
 * Commands that the hook must deny, written as in `rows.ts`. They run only in the jail of `jail.ts`.
 *
 * @module
 */

/** Commands that could run a script in a way that cannot be rewritten safely. */
export const DENIED: string = String.raw`
make -f P/assets/page.html
python .cl$'\x61'ude/skills/pdf/scripts/a.py; echo it's
hash -p /tmp/x skillcell; python P/scripts/a.py
alias skillcell=bash; python P/scripts/a.py
. P/scripts/run.sh
source P/scripts/run.sh x
cd P && . scripts/run.sh
bash < P/scripts/run.sh
/bin/bash < P/scripts/run.sh
python < P/scripts/a.py
python - < P/scripts/a.py
cat P/scripts/run.sh | bash
cat P/scripts/run.sh | /bin/bash -s x
cat P/scripts/a.py | python
cat P/scripts/a.py | python -
cat P/scripts/run.sh | tee x | sh
cat P/scripts/run.sh > >(bash)
bash <(cat P/scripts/run.sh)
python <(cat P/scripts/a.py)
source <(cat P/scripts/run.sh)
. /dev/stdin < P/scripts/run.sh
python /dev/stdin < P/scripts/a.py
python /dev/fd/0 < P/scripts/a.py
exec 3< P/scripts/run.sh; bash /dev/fd/3
exec 3< P/scripts/run.sh; bash <&3
bash -c "$(cat P/scripts/run.sh)"
bash -c "$(< P/scripts/run.sh)"
eval "$(cat P/scripts/run.sh)"
eval "$(<P/scripts/run.sh)"
eval "python P/scripts/a.py"
eval python P/scripts/a.py
eval 'cd .cl""aude/skills/pdf; python scripts/a.py'
X="$(cat P/scripts/run.sh)"; eval "$X"
bash -c 'source P/scripts/run.sh'
bash -c 'python "$1"' _ P/scripts/a.py
bash -c '"$0"' P/scripts/run.sh
bash -c 'cat P/scripts/run.sh | bash'
python -c "exec(open('P/scripts/a.py').read())"
python -c 'import runpy; runpy.run_path("P/scripts/a.py")'
/usr/bin/python3 -c 'exec(open(".claude/skills/pdf/scripts/a.py").read())'
python -m runpy P/scripts/a.py
python -m pdb P/scripts/a.py
cd P && python -c 'import scripts.a'
cd P && python - <<< 'import scripts.a'
cd P && make
cd P && npm test
cd P/scripts; pytest
make -C P
npm --prefix P run x
node -e 'require("./P/scripts/x.js")'
node -r ./P/scripts/x.js app.js
node --require=./P/scripts/x.js app.js
NODE_OPTIONS=--require=./P/scripts/x.js node app.js
BASH_ENV=P/scripts/run.sh bash -c true
BASH_ENV=P/scripts/run.sh /bin/bash -c true
export BASH_ENV=P/scripts/run.sh; /bin/bash -c true
declare -x BASH_ENV=P/scripts/run.sh; /bin/bash -c true
PYTHONPATH=P/scripts python -m a
PYTHONPATH=P/scripts python tool.py
PATH=P/scripts:$PATH run.sh
export PATH=R/P/scripts:$PATH; run.sh
PATH=R/P/scripts:$PATH; run.sh
env PATH=P/scripts run.sh
NODE_OPTIONS=--inspect python P/scripts/a.py
env NODE_OPTIONS=--require=/tmp/x.js python P/scripts/a.py
env -i A=1 PATH=/tmp python P/scripts/a.py
LD_PRELOAD=/tmp/x.so python P/scripts/a.py
export SKILLCELL_HOME=/tmp/x; python P/scripts/a.py
HOME=/tmp python P/scripts/a.py
sudo python P/scripts/a.py
sudo P/scripts/run.sh
env -S "python P/scripts/a.py"
env -C P python scripts/a.py
env -C P bash scripts/run.sh
exec -a x python P/scripts/a.py
builtin source P/scripts/run.sh
command . .cl*/skil?s/pdf/scripts/run.sh; echo it's
for f in P/scripts/run.sh; do builtin source $f; done
for f in P/scripts/run.sh; do cat a | builtin . $f; done
builtin cd P; python scripts/a.py
echo P/scripts/a.py | xargs python
echo P/scripts/run.sh | xargs some-tool $f
echo P/scripts/run.sh | xargs -I{} bash {}
echo run | xargs -I{} bash P/scripts/{}.sh
echo scripts | xargs -I s python P/scripts/a.py
export S=P; S=P || true & make $S/scripts/run.sh
for f in P/scripts/*; do some-tool $f; done
echo P/scripts/run.sh | xargs -n1 bash run.sh
echo P/scripts/run.sh | xargs -I% bash run.sh %
echo P/scripts/run.sh | xargs -I{} bash -c 'bash {}'
echo P/scripts/a.py | xargs -I% python -c 'exec(open("%").read())'
echo P/scripts/a.py | xargs python tool.py
ls P/scripts/*.sh | xargs -n1 bash
ls P/scripts/*.sh | xargs -n1 sh -c 'bash $0'
xargs bash <<< P/scripts/run.sh
find P -name '*.sh' -exec bash {} \;
find . -name '*.sh' -exec bash {} +
find -name '*.sh' -exec bash {} +
find .claude -name run.sh -execdir {} \;
find P -name '*.py' | xargs python
find P -name '*.sh' | while read f; do bash "$f"; done
while read f; do bash "$f"; done < <(find P -name '*.sh')
for f in P/scripts/*.sh; do bash "$f"; done
for f in P/scripts/*.sh; do "$f"; done
for d in .claude/skills/*/; do bash "$d/scripts/run.sh"; done
read f <<< P/scripts/run.sh; bash "$f"
set -- P/scripts/run.sh; bash "$1"
printf -v f %s P/scripts/run.sh; bash $f
mapfile -t f < <(ls P/scripts/*.sh); bash "§{f[0]}"
D=$(dirname P/scripts/run.sh); bash $D/run.sh
D=§{X:-P/scripts}; bash $D/run.sh
bash §{X:-P/scripts/run.sh}
: §{X:=P/scripts/run.sh}; bash $X
bash $(echo P/scripts/run.sh)
bash "$(ls P/scripts/run.sh)"
bash ´echo P/scripts/run.sh´
X=´python P/scripts/a.py´; echo $X
echo "´bash P/scripts/run.sh´"
$(echo bash) P/scripts/run.sh
/bin/b?sh P/scripts/run.sh
python P/scripts/*.py
bash .cl*/sk*/pdf/scripts/run.sh
/bin/bash .[c]laude/skills/pdf/scripts/run.sh
bash .claude/skills/{pdf,two}/scripts/run.sh
bash {.claude,x}/skills/pdf/scripts/run.sh
/bin/bash {.claude/skills/pdf/scripts/run.sh,x}
bash P/scripts/run.[s]h
{bash,P/scripts/run.sh}
cp P/scripts/run.sh /tmp/r.sh && bash /tmp/r.sh
cp -r P /tmp/pdf; bash /tmp/pdf/scripts/run.sh
cp -t /tmp P/scripts/run.sh; bash /tmp/run.sh
mv P/scripts/run.sh x.sh; bash x.sh
install P/scripts/run.sh x.sh; ./x.sh
ln -s P/scripts/run.sh x.sh; bash x.sh
ln -s .claude c; bash c/skills/pdf/scripts/run.sh
ln -s R/.claude/skills s && bash s/pdf/scripts/run.sh
cat P/scripts/run.sh > x.sh; bash x.sh
cat P/scripts/run.sh | tee x.sh > /dev/null; bash ./x.sh
echo 'bash P/scripts/run.sh' > x.sh; bash x.sh
cat > x.sh <<'END'⏎bash P/scripts/run.sh⏎END⏎bash x.sh
cat > x.sh <<'END'⏎bash P/scripts/run.sh⏎END⏎chmod +x x.sh; ./x.sh
cat > x.sh <<'END'⏎bash P/scripts/run.sh⏎END⏎. x.sh
bash <<'END'⏎python P/scripts/a.py⏎END
bash <<'END'⏎cd P⏎bash scripts/run.sh⏎END
bash <<END⏎$(cat P/scripts/run.sh)⏎END
bash <<-END⏎	bash P/scripts/run.sh⏎	END
python <<'END'⏎exec(open("P/scripts/a.py").read())⏎END
cat <<END⏎´bash P/scripts/run.sh´⏎END
f() { python P/scripts/a.py; }; f
f () { bash P/scripts/run.sh; }⏎f
function f { bash P/scripts/run.sh; }; f
python() { bash P/scripts/run.sh; }; python x
skillcell() { shift 5; "$@"; }; python P/scripts/a.py
alias python='bash P/scripts/run.sh'
shopt -s expand_aliases⏎alias x='bash P/scripts/run.sh'⏎x
trap 'bash P/scripts/run.sh' EXIT
case x in x) bash P/scripts/run.sh;; esac
case x in (x) bash .cl""aude/skills/pdf/scripts/run.sh;; esac
case x in x) bash .cl§{y}aude/sk\ills/pdf/scripts/run.sh;; esac
case x in x) bash $'\x2eclaude/skills/pdf/scripts/run.sh';; esac
select x in P/scripts/run.sh; do bash $x; break; done <<< 1
coproc bash P/scripts/run.sh
((1)) && bash P/scripts/run.sh
echo $((a[$(bash P/scripts/run.sh)]))´´´
a=(P/scripts/run.sh); bash "§{a[0]}"
a[0]=P/scripts/run.sh; bash "$a"
bash P/scripts/run.sh "unclosed
bash 'P/scripts/run.sh
echo $(bash P/scripts/run.sh
hash -p P/scripts/run.sh ls; ls
enable -f P/scripts/x.so x
awk 'BEGIN { system("bash P/scripts/run.sh") }'
sed -n '1e bash P/scripts/run.sh' data.csv
sed 's#.*#bash P/scripts/run.sh#e' data.csv
sort --compress-program=P/scripts/run.sh data.csv
rg --pre P/scripts/run.sh x data.csv
git -c core.pager=P/scripts/run.sh log
git bisect run P/scripts/run.sh
tar --checkpoint-action=exec=P/scripts/run.sh -cf x.tar data.csv
watch -n1 bash P/scripts/run.sh
ssh localhost bash < P/scripts/run.sh
docker run -v R/P:/x image bash /x/scripts/run.sh
uv run --with requests P/scripts/a.py
uv run --script P/scripts/a.py
deno run -A P/scripts/x.js
npx tsx P/scripts/x.js
perl -x P/scripts/a.py
cd $UNSET && python P/scripts/a.py
cd "$(dirname P/scripts)" && python scripts/a.py
cd P && cd - && bash scripts/run.sh
python P/scripts/a.py | bash
python P/scripts/a.py | xargs bash
bash -c "$(python P/scripts/a.py)"
eval "$(python P/scripts/a.py)"
python P/scripts/a.py > x.sh; bash x.sh
IFS=x; S=P; python $S/scripts/a.py
S=.claude; S=$S/skills/pdf; bash $S/scripts/run.sh
S=P; S=x; bash $S/scripts/run.sh
if true; then S=P; fi; bash $S/scripts/run.sh
S=.claude; S+=/skills/pdf; bash $S/scripts/run.sh
X='bash P/scripts/run.sh'; $X
X='bash P/scripts/run.sh'; eval "$X"
./tool P/scripts/a.py
python tool.py P/scripts/a.py
code P/scripts
zip -r x.zip .claude/skills
for i in 1 2; do [ -f scripts/run.sh ] && bash scripts/run.sh; cd P; done; . P/x
busybox sh P/scripts/run.sh
strace -f bash P/scripts/run.sh
script -c 'bash P/scripts/run.sh' /dev/null
flock x bash P/scripts/run.sh
time -o x bash P/scripts/run.sh
´echo bash´ P/scripts/run.sh
"$(printf 'ba')sh" P/scripts/run.sh
<P/scripts/run.sh bash
bash 0<P/scripts/run.sh
bash<P/scripts/run.sh
(cat P/scripts/run.sh) | bash
{ cat P/scripts/run.sh; } | { bash; }
if cat P/scripts/run.sh; then :; fi | bash
bash -i < P/scripts/run.sh
bash --rcfile P/scripts/run.sh -i < /dev/null
bash --init-file P/scripts/run.sh -i < /dev/null
python -i P/scripts/a.py
python -x P/scripts/a.py -c $(bash P/scripts/run.sh) | sh
`;
