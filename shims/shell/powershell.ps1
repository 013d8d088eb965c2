# For PowerShell, sourced from a profile: puts the folder of locked's shims before everything else on PATH, once, and the
# folder of `locked` itself ($LockedBin, when the caller says it) at the end unless it is there.

# Those that the caller does not say are empty, in strict mode too.
foreach ($lockedName in 'LockedBin', 'LockedShims', 'LockedShimsDir') {
    if (-not (Test-Path "Variable:$lockedName")) { Set-Variable $lockedName '' }
}
$lockedSplit = [IO.Path]::PathSeparator
$lockedPath = @($env:PATH -split $lockedSplit | Where-Object { $_ })
if ($LockedBin -and $lockedPath -notcontains $LockedBin) { $lockedPath += $LockedBin }

# The folder that `locked shims path` names, in the same order: what LOCKED_SHIMS_DIR says ($LockedShimsDir: what it said when
# this was installed), XDG_DATA_HOME, and the account's home in the user database ($LockedShims: the folder there), not HOME,
# which may be somebody else's.
if ($LockedShimsDir -and -not $env:LOCKED_SHIMS_DIR) { $env:LOCKED_SHIMS_DIR = $LockedShimsDir }
if ($env:LOCKED_SHIMS_DIR -and [IO.Path]::IsPathRooted($env:LOCKED_SHIMS_DIR)) {
    $LockedShims = $env:LOCKED_SHIMS_DIR
} elseif ($env:XDG_DATA_HOME -and [IO.Path]::IsPathRooted($env:XDG_DATA_HOME)) {
    $LockedShims = Join-Path $env:XDG_DATA_HOME 'locked/shims'
} elseif (-not $LockedShims) {
    $lockedHome = ''
    if (Get-Command getent -CommandType Application -ErrorAction Ignore) {
        $lockedHome = "$(getent passwd "$(id -u)")".Split(':')[5]
    }
    # Where there is no such database, HOME is all there is.
    if (-not $lockedHome) { $lockedHome = $HOME }
    $LockedShims = Join-Path $lockedHome '.local/share/locked/shims'
}
# Else that for everybody. One with the separator would be two, and a relative one another in every directory.
foreach ($lockedDir in $LockedShims, '/usr/local/lib/locked/shims') {
    if ([IO.Path]::IsPathRooted($lockedDir) -and -not $lockedDir.Contains($lockedSplit) -and
        (Test-Path -PathType Container -LiteralPath $lockedDir)) {
        $lockedPath = @($lockedDir) + @($lockedPath | Where-Object { $_ -ne $lockedDir })
        break
    }
}
$env:PATH = $lockedPath -join $lockedSplit
Remove-Variable -ErrorAction Ignore 'lockedName', 'lockedSplit', 'lockedPath', 'lockedHome', 'lockedDir'
Remove-Variable -ErrorAction Ignore 'LockedBin', 'LockedShims', 'LockedShimsDir'
