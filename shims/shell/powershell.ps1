# For PowerShell, sourced from a profile: puts the folder of locked's shims before everything else on PATH, once, and the
# folder of `locked` itself ($LockedBin, when the caller says it) at the end unless it is there.

$lockedSplit = [IO.Path]::PathSeparator
$lockedPath = @($env:PATH -split $lockedSplit | Where-Object { $_ })
if ($LockedBin -and $lockedPath -notcontains $LockedBin) { $lockedPath += $LockedBin }

# The folder as `locked shims` chooses it; a relative one would be another in every directory.
$lockedData = @($env:XDG_DATA_HOME, (Join-Path $HOME '.local/share') | Where-Object { $_ } | ForEach-Object { Join-Path $_ 'locked/shims' })
foreach ($lockedShims in @($env:LOCKED_SHIMS_DIR) + $lockedData) {
    if ($lockedShims -and [IO.Path]::IsPathRooted($lockedShims) -and (Test-Path -PathType Container $lockedShims)) {
        $lockedPath = @($lockedShims) + @($lockedPath | Where-Object { $_ -ne $lockedShims })
        break
    }
}
$env:PATH = $lockedPath -join $lockedSplit
Remove-Variable lockedSplit, lockedPath, lockedData, lockedShims
