# Writes to $SEEN what this process sees of itself. The descriptors come first: every later open changes them.
my @open;
opendir(my $dir, "/proc/self/fd");
for my $fd (sort { $a <=> $b } grep { /^\d/ } readdir $dir) {
    my $to = readlink "/proc/self/fd/$fd";
    push @open, [$fd, $to] unless $to eq "/proc/$$/fd";
}
closedir $dir;

sub whole { open(my $file, "<:raw", $_[0]) or return "?"; local $/; my $text = <$file>; defined $text ? $text : "" }
sub shown { my $text = shift; $text =~ s/([^\x20-\x7e])/sprintf "\\x%02x", ord $1/ge; $text }

my $out = "";
$out .= "arg " . shown($_) . "\n" for split /\0/, whole("/proc/self/cmdline"), -1;
for (split /\0/, whole("/proc/self/environ")) {
    # bash names what it starts here, and a supervisor the process that it means.
    s/^_=.*/_=/s;
    s/^(LISTEN_PID|WATCHDOG_PID|SYSTEMD_EXEC_PID)=$$\z/$1=me/;
    $out .= "env " . shown($_) . "\n";
}
$out .= "cwd " . shown(readlink "/proc/self/cwd") . "\n";
$out .= "exe " . shown(readlink "/proc/self/exe") . "\n";
for (@open) {
    my ($fd, $to) = @$_;
    my $info = whole("/proc/self/fdinfo/$fd");
    my ($pos) = $info =~ /^pos:\s*(\d+)/m;
    my ($flags) = $info =~ /^flags:\s*(\d+)/m;
    # Every run has pipes of its own.
    $to =~ s/^(pipe|socket):.*/$1/;
    $out .= "fd $fd " . shown($to) . " at $pos flags $flags\n";
}
my ($fields) = whole("/proc/self/stat") =~ /.*\) (.*)/s;
my @stat = split / /, $fields;
# Numbers of proc_pid_stat(5), which counts from 1 and gives the state as 3.
my %number = (group => 5, session => 6, terminal => 7, foreground => 8, priority => 18, nice => 19, rt_priority => 40, policy => 41);
$out .= "stat $_ $stat[$number{$_} - 3]\n" for sort keys %number;
for (split /\n/, whole("/proc/self/status")) {
    $out .= "status $_\n" if /^(Umask|Uid|Gid|Groups|Seccomp|NoNewPrivs|CoreDumping|Cpus_allowed|Mems_allowed|(Sig|Shd|Cap)\w+):/ and not /^SigQ/;
}
for my $name (qw(limits cgroup personality oom_score_adj coredump_filter timerslack_ns loginuid sessionid)) {
    $out .= "$name $_\n" for split /\n/, whole("/proc/self/$name");
}
$out .= "namespace " . readlink("/proc/self/ns/$_") . "\n" for qw(cgroup ipc mnt net pid user uts);
open(my $seen, ">", "$ENV{SEEN}.part") or die;
print $seen $out;
close $seen or die;
rename "$ENV{SEEN}.part", $ENV{SEEN} or die;
