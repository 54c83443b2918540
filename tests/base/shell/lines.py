"""Lines of shell that only look, and lines that do more."""

LOOKS = """
ls -la src
ls *.py
cat a b | sort -u | uniq -c | head -5
head -n 20 a; tail -n -3 b
grep -rn --include=*.py 'def x' src tests
grep -e a -e b -A3 x
find . -name '*.py' -not -path './x/*' -mtime -7
find src tests \\( -name a -o -name b \\) -type f -size +10k -print0
sed -n '1,20p' a
sed -e 's/a/b/g' -e '/x/d' a b
sed -n 's/[^[:space:]]*[.,\\/]//gp' a
awk '{print $1}' a
awk -F: 'NR>1 && $3>=10 || /x/ {printf "%s\\n", $1}' a b
gawk -v n=2 'NR==n' a
sed '/^[]a-z]/d;s|\\[x|y|' a
wc -l *
du -sh . 2>/dev/null
cd src && ls
git status --short
git log --oneline -5 -- src
git log -p --stat HEAD~3..HEAD
git -C sub diff --cached HEAD
git --no-pager show HEAD:src/a.py
git branch -a
git branch --list 'x*'
git branch --contains HEAD
git tag -l 'v*'
git config --get user.name
git config -f c.json --get-regexp user x
ls x || exit 1
git remote -v
git stash list
git stash show -p
git reflog
git grep -n foo -- src
git rev-parse --show-toplevel
git --version
echo hello -n --- world
printf '%s 50%% done\\n' x
printf 'a\\n'
test -f a && cat a
[ -d src ] && ls src
diff -u a b
date +%F
tar -tzf a.tar.gz
tar tf a.tar
jq '.a[] | .b' a.json
jq . *
rg -n foo src
fd -e py
tree -L 2
xxd -l 16 a
sort -k2,2 -t : a
cut -d: -f1,3 a
git submodule status
git submodule status --recursive sub
python3 --version
python3.11 -V
node -v && npm --version
bash --version | head -1
command -v git
command -pv ls cat >/dev/null
ps
ps aux
ps -ef | grep x
ps auxf --sort=-pcpu
ps -eo pid,ppid,args --no-headers
ps -p 1 -o comm=
uname -a
df -h
du -sh .
hostname
uptime -p
free -m
ls > /dev/null 2>&1
cat < a
:
""".strip().splitlines()

# Each was let through once, by a rule with a `*`, a mode, or a draft of the table.
ACTS = r"""
git grep -Osh foo
git grep -O'touch x' foo
git grep -nOsh foo
git grep --open-files-in-pager=sh foo
git log --output=x
git log --outp=x
git diff --output x
git diff --output=../x
git show --ext-diff
git show --textconv
git log --show-signature
git log --format=%G?
git log --pretty=format:%GG
git log --remerge-diff
git log --grep -- --output=x
git for-each-ref --format=%(signature)
git cat-file --filters HEAD:a
git describe --dirty
git -c core.pager=sh log
git --exec-path=. log
git --git-dir=x log
git -C
git branch new
git branch -d old
git branch -l new
git branch --abbrev new
git branch -v new
git tag new
git tag -v v1
git tag -a v1 -m x
git config user.name x
git config core.pager sh
git config core.pager '--default=;touch x' --get
git config -z core.fsmonitor --default sh --get
git config c.json --get-urlmatch
git config list --list
git config --unset x
git config -e
git remote add a b
git remote -v update
git remote show origin
git remote update
git stash
git stash drop
git stash -- list
git stash -q show
git stash push
git worktree add x
git worktree list x
git reflog expire --all
git reflog -n expire
git reflog delete HEAD@{1}
git fetch --upload-pack=sh
git ls-remote .
git help log
git log --help
sort -o out a
sort -oout a
sort -Co out
sort -uo out a
sort a -o out
sort --output=out a
sort --outp=out a
sort --compress-program=sh a
sort --comp=sh -S1 a
sort -T. a
sort -to a
sort *
printf -v x y
printf -v 'a[$(touch x)]' y
printf -v 'a[`touch x`]' y
printf %n 'a[$(touch x)]'
printf '%5n' PATH
test -v 'a[$(touch x)]'
test 'a[`touch x`]' -eq 1
[ -v 'a[$(touch x)]' ]
[ -R x ]
[ -f a && ./x ]
[ a || x ]
[ a | x ]
[ a & x ]
[ a == b&x ]
[ a == b|x ]
[ a =~ b|x ]
[ &>out ]
[ &>>out ]
[ a &>out ]
[ a -a &>out ]
[[ 'a[$(touch x)]' -eq 1 ]]
declare 'a[$(touch x)]=1'
read 'a[$(touch x)]'
let 'a[$(touch x)]'
uniq a b
uniq a*
uniq -c a b
xxd -r a
xxd a b
xxd a -E
xxd a --
xxd -al 5 out
split a
csplit a 1
tee a
history -w
history -w a
sed -e 'w f' a
sed 'w f' a
sed -n 's/a/b/w f' a
sed s/a/b/e a
sed -n 's|[|]|p;s|w f|x|' a
sed -n '/x[/p;s/]/w f/' a
sed 's|[|]|p;s|e|x|' a
sed -e '/x[]/p;s/]/w f/' a
sed -e '/x[^]/p;s/]/w f/' a
sed 1e a
sed -i s/a/b/ a
sed -ni p a
sed --in-place=.bak p a
sed -f script a
sed 'r /etc/passwd' a
sed s* a
sed -l 1{,wfoo} p
sed -l 5 'w x' a
sed -n p -- -i
sed --expression='1w x' a
tar --checkpoint-action=exec=sh -tf a
tar -tf a -I sh
tar -xf a
tar -cf a b
tar -tf host:a
tar -tf a --to-command=sh
tar -tf a --index-file=x
tar -f a
tar tfx a
tar --use-compress-program=sh -tf a
cp --target-directory=.git/hooks a
cp a b
find . -delete
find . -exec rm {} +
find . -name x -exec sh -c y \;
find . -print -delete
find . -empty -delete
find . -name -delete
find . -fprint out
find . -fprintf out x
find . -fls out
find . -ok rm {} \;
find . -files0-from x
find -D exec -delete
find *
find . -name * -o -print
python3.11 x
python3 -c x
mawk -f x
gawk 'BEGIN{system("x")}'
awk '{print > "x"}' a
awk '{print>x}' a
awk '/}/ {print} {print > x}' a
awk 'BEGIN{while (("x" | getline l) > 0) print l}'
awk 'BEGIN{getline l < "x"}'
awk 'BEGIN{print ENVIRON["X"]}'
awk 'BEGIN{ARGV[1]="/etc/passwd"; ARGC=2} 1'
gawk '@load "x"; BEGIN{f()}'
awk 'BEGIN{SYMTAB["AR" "GV"][1]="/etc/passwd"}1' a
awk 'BEGIN{for (i in PROCINFO) print i, PROCINFO[i]}'
awk 'BEGIN{for (i in FUNCTAB) print i}'
gawk -e x
gawk -i x y
awk "$x" a
awk 'BEGIN{f="sys" "tem"; @f("x")}'
less a
man ls
vim a
env ls
env
ps e
ps auxe
ps eww
ps -e f e
ps -eo pid,environ
ps -E
ps -ef e
hostname -F a
free -s 1
uptime -x
python3 --version x
python3 x --version
python3 -m x --version
python3 -V < x
./python3 --version
.venv/bin/python --version
java -version
cargo --version
go version
yarn --version
pytest --version
make --version -f x --eval y
command ls -v
command -p ls
command -v
command -V $x
command -v$x ls
command '' -v ls
git submodule
git submodule update
git submodule --quiet update
git submodule foreach ls
git submodule status --init
printenv
xargs ls
time ls
nohup ls
sudo ls
command ls
date -s 12:00
date 010112002026
date --set=x
date -us 12:00
hostname x
tree -o out
tree -Lo 2 out
tree -R -L 1 -H .
rg --pre sh foo
rg --pre=sh foo
rg -z foo
rg --hostname-bin=sh foo
fd -x rm
fd -X rm
fd . --exec rm
diff -l a b
diff --paginate a b
file -C -m a
file -z a
file *
jq env
jq -n '$ENV'
jq 'import "a" as a; .'
./ls
/bin/ls
src/cat a
ls > out
ls >> out
ls >| out
ls &> out
ls >& out
ls <> out
ls > /dev/stdout
ls > /dev/tcp/localhost/80
cat < /dev/tcp/localhost/80
cat $x
cat "$(touch x)"
cat `touch x`
cat <(touch x)
cat $'a\x41'
cat ${x:=y}
: ${x:=y}
: $((x=1))
PATH=. ls
LD_PRELOAD=x ls
GIT_PAGER=sh git log
BASH_ENV=x ls
x=1
ls; rm x
ls & rm x
ls | sh
ls || rm x
! cat $(touch x)
! ls && f() { rm x; }
for PATH in .; do ls; done
if ls; then ls; fi
ls() { rm x; }; ls
alias ls=rm
eval ls
exec ls
. ./a
source a
trap ls EXIT
export PATH=.
unset PATH
strings @a
cat {a,$x}
echo $x
echo *(e)
echo $(ls)
""".strip().splitlines()
