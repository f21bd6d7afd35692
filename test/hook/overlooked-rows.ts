/**
 * Commands that run a script of a skill in a way that is easily overlooked: through a copy, a second name of a variable, text
 * that only looks like text, or a program that is known for reading. Written as in `rows.ts`.
 *
 * @module
 */
export const OVERLOOKED: string = String.raw`
ls P/scripts/run.sh && bash $_
cd P && cd R && bash $OLDPWD/scripts/run.sh
uniq P/scripts/run.sh x.sh; bash x.sh
xxd P/scripts/run.sh x.hex; xxd -r x.hex x.sh; bash x.sh
cat P/scripts/run.sh | env tee x.sh; bash x.sh
cat P/scripts/run.sh | command tee x.sh; ./x.sh; bash x.sh
cat P/scripts/run.sh | dd of=x.sh; bash x.sh
sort --output=x.sh P/scripts/run.sh; bash x.sh
find . -maxdepth 0 -fprintf x.sh 'bash P/scripts/run.sh'; /bin/bash x.sh
seq 1 200000 | sort -S 1K --co=P/scripts/run.sh
bat --paging=always --pager=P/scripts/run.sh data.csv
cd src; CDPATH=..; cd 'vendor/odd name/scripts'; python a.py
cd src; CDPATH=..; cd 'vendor/odd name/scripts'; /bin/bash run.sh
X=src; eval X=P; bash $X/scripts/run.sh
X=src; export $(echo X=P); bash $X/scripts/run.sh
X=; : "§{X:=P/scripts/run.sh}"; bash "$X"
X=src; command eval X=P; bash $X/scripts/run.sh
X=src; builtin read X <<< P; bash $X/scripts/run.sh
X=src; command export X=P; bash $X/scripts/run.sh
X=src; command printf -v X %s P; bash $X/scripts/run.sh
X=src; declare -n Y=X; Y=P; bash $X/scripts/run.sh
test -v 'a[$(bash P/scripts/run.sh)]'
[ -v 'a[$(bash P/scripts/run.sh)]' ]
[[ -v 'a[$(bash P/scripts/run.sh)]' ]]
[[ 'a[$(bash P/scripts/run.sh)]' -eq 0 ]]
printf -v 'a[$(bash P/scripts/run.sh)]' x
read 'a[$(bash P/scripts/run.sh)]' <<< 1
x='a[$(bash P/scripts/run.sh)]'; echo $((x))
x='$(bash P/scripts/run.sh)'; echo "§{x@P}"
/usr/bin/python3 -c 'import vendor2.tool.scripts.a'
/usr/bin/python3 -mvendor2.tool.scripts.a
/usr/bin/python3 - <<< 'import vendor2.tool.scripts.a'
/usr/bin/python3 -m link
node linkjs
echo 'import vendor2.tool.scripts.a' | /usr/bin/python3
git mv P/scripts/run.sh x.sh; bash x.sh
git init -q . && git add . && git show :P/scripts/run.sh --output=x.sh; bash x.sh
git init -q . && git add . && git grep --op=P/scripts/run.sh MARK
eval cd P; bash scripts/run.sh
eval 'cd P'; bash scripts/run.sh
cat P/scripts/a.py | /usr/bin/python3 -c 'import sys; exec(sys.stdin.read())'
printf '#!/bin/bash⏎P/scripts/run.sh' > x.sh; chmod +x x.sh; PATH=.:$PATH x.sh
echo 'bash P/scripts/run.sh' > ~/.bashrc; /bin/bash -ic true
echo 'bash P/scripts/run.sh' > ~/.bash_profile; /bin/bash -lc true
cp -r . ../copy; cd ../copy/vendor/odd\ name; bash scripts/run.sh
mv ../project ../q; bash ../q/vendor/odd\ name/scripts/run.sh
ln -s . d; bash d/vendor/odd\ name/scripts/run.sh
ln -s R d; bash d/vendor/odd\ name/scripts/run.sh
git mv vendor v; bash v/odd\ name/scripts/run.sh
cat P/scripts/run.sh | awk '{print > "x.sh"}'; bash x.sh
cat P/scripts/run.sh > src/x.sh; bash sr*/x.sh
cat P/scripts/a.py > mod.py; /usr/bin/python3 -m mod
cat P/scripts/a.py > mod.py; /usr/bin/python3 -c 'import mod'
cat P/scripts/a.py > sitecustomize.py; PYTHONPATH=. /usr/bin/python3 tool.py
cat P/scripts/run.sh > x.sh; strace bash x.sh
cat P/scripts/run.sh > x.sh; flock y bash x.sh
cat <<E | bash⏎bash P/scripts/run.sh⏎E
env HOME=R bash -c 'bash ~/vendor/odd\ name/scripts/run.sh'
HOME=R ; bash ~/vendor/odd\ name/scripts/run.sh
bash <<< "bash 'vendor/odd name/scripts/run.sh'"
echo 'bash "vendor/odd name/scripts/run.sh"' | bash
echo 'cd vendor/odd*; bash scripts/run.sh' | bash
cat > x.sh <<'E'⏎bash "vendor/odd name/scripts/run.sh"⏎E⏎bash x.sh
/usr/bin/python3 -c 'import os; os.system("/bin/bash vendor/odd*/scripts/run.sh")'
find . -name run.sh -path '*pdf*' | head -1 | xargs -r bash
find . -name 'run.sh' -printf 'bash %p\n' | sh
a='$(bash P/scripts/run.sh)'; b="[$a]"; echo $((c$b))
shopt -s globstar; for f in **/run.sh; do /bin/bash "$f"; done
`;
