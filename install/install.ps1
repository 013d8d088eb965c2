<#
.SYNOPSIS
Installs locked for this account, or takes it away again.

.DESCRIPTION
The counterpart of install.sh for Windows: from an unpacked release archive or a checkout, from an archive whose .sha256 lies
beside it, or from an address. What was put where is written down; -Uninstall takes exactly that away, and leaves state,
settings and secrets. It has not been run on every Windows: read it, it is short.

.PARAMETER Archive
A release archive (.zip); its .sha256 beside it must agree.
.PARAMETER From
The https:// address of one; ADDRESS.sha256 must agree.
.PARAMETER Binary
This binary, and everything else from this checkout.
.PARAMETER Sha256
The archive has this digest, whatever the file beside it says.
.PARAMETER Prefix
Where to. Ready: Programs\locked below the account's local data.
.PARAMETER System
For everybody: below Program Files. Wants an administrator.
.PARAMETER Shims
Puts shims before sops, docker and gh (locked shims install).
.PARAMETER ModifyPath
Puts the shims first on PATH, in the PowerShell profile of this account.
.PARAMETER Force
Replaces a locked.exe in its place that is somebody else's.
.PARAMETER Uninstall
Takes away what this script put there.
#>
[CmdletBinding()]
param(
    [string] $Archive, [string] $From, [string] $Binary, [string] $Sha256,
    [string] $Prefix, [switch] $System, [switch] $Shims, [switch] $ModifyPath, [switch] $Force, [switch] $Uninstall
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$root = Split-Path -Parent $PSScriptRoot
$begin = '# >>> locked, by install.ps1 -ModifyPath'
$end = '# <<< locked <<<'

function GiveUp([string] $What, [string] $Next, [int] $Status = 69) {
    [Console]::Error.WriteLine("install: $What")
    [Console]::Error.WriteLine("next:  $Next")
    exit $Status
}

if (-not $Prefix) {
    $base = if ($System) { $env:ProgramFiles } else { Join-Path $env:LOCALAPPDATA 'Programs' }
    $Prefix = Join-Path $base 'locked'
}
# Absolute, also where it does not exist; a relative one would be another in every directory.
$Prefix = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Prefix)
$manifest = Join-Path $Prefix 'manifest'

# What PATH is divided by, and what no list of lines can hold.
function MustFitPath([string] $Folder, [string] $Next) {
    if ($Folder.Contains([string] [IO.Path]::PathSeparator) -or $Folder -match '[\x00-\x1f]') {
        GiveUp "a folder with $([IO.Path]::PathSeparator) or a control character cannot be on PATH: $Folder" $Next 64
    }
}

# The lines of a profile: each block begins with a line that says whose it is, and has an end before anything else begins.
# Answers the text without ours, and what is damaged as FILE:LINE.
function ReadProfile([string] $File) {
    $answer = @{ Rest = ''; Damaged = @(); OursDamaged = @() }
    if (-not (Test-Path -LiteralPath $File)) { return $answer }
    $rest = New-Object Text.StringBuilder
    $open = New-Object Text.StringBuilder
    $from = 0
    $ours = $false
    $number = 0
    foreach ($line in [regex]::Matches([IO.File]::ReadAllText($File), '[^\n]*\n|[^\n]+$')) {
        $number++
        if ($line.Value.StartsWith($begin)) {
            if ($from) {
                $answer.Damaged += "${File}:$from"
                if ($ours) { $answer.OursDamaged += "${File}:$from" }
                [void] $rest.Append($open.ToString())
            }
            $from = $number
            $ours = $line.Value.TrimEnd() -eq "$begin, of $Prefix"
            [void] $open.Clear().Append($line.Value)
        } elseif ($line.Value.StartsWith($end)) {
            if (-not $from) {
                $answer.Damaged += "${File}:$number"
                [void] $rest.Append($line.Value)
            } elseif (-not $ours) {
                [void] $rest.Append($open.ToString()).Append($line.Value)
            }
            $from = 0
            [void] $open.Clear()
        } elseif ($from) {
            [void] $open.Append($line.Value)
        } else {
            [void] $rest.Append($line.Value)
        }
    }
    if ($from) {
        $answer.Damaged += "${File}:$from"
        if ($ours) { $answer.OursDamaged += "${File}:$from" }
        [void] $rest.Append($open.ToString())
    }
    $answer.Rest = $rest.ToString()
    return $answer
}

if ($Uninstall) {
    if (-not (Test-Path -LiteralPath $manifest)) { GiveUp "nothing was installed in $Prefix" 'install.ps1 -Uninstall -Prefix DIR' }
    $locked = Join-Path $Prefix 'bin\locked.exe'
    if (Test-Path -LiteralPath $locked) {
        & $locked shims remove --help *> $null
        if ($LASTEXITCODE -eq 0) { & $locked shims remove --all }
    }
    $kept = @()
    foreach ($line in Get-Content -LiteralPath $manifest) {
        $kind, $digest, $path = $line -split ' ', 3
        if ($kind -eq 'block' -and (Test-Path -LiteralPath $path)) {
            $found = ReadProfile $path
            if ($found.OursDamaged) {
                Write-Warning "$($found.OursDamaged[0]): the lines about locked that begin here have no end; take them out by hand"
                $kept += $line
            }
            [IO.File]::WriteAllText($path, $found.Rest)
        } elseif ($kind -eq 'file' -and (Test-Path -LiteralPath $path)) {
            if ((Get-FileHash -Algorithm SHA256 -LiteralPath $path).Hash -eq $digest) { Remove-Item -LiteralPath $path }
            else { Write-Warning "it was changed since, and stays: $path" }
        } elseif ($kind -eq 'shims' -and (Test-Path -LiteralPath $path) -and -not (Get-ChildItem -Force -LiteralPath $path)) {
            Remove-Item -LiteralPath $path
        }
    }
    if ($kept) {
        Set-Content -LiteralPath $manifest $kept
        Write-Warning "locked is gone from $Prefix, but for what is named above; when that is put right, run this again"
        exit 73
    }
    Remove-Item -LiteralPath $manifest
    # Only directories that are empty now.
    Get-ChildItem -Recurse -Directory -LiteralPath $Prefix | Sort-Object -Descending { $_.FullName.Length } |
        Where-Object { -not (Get-ChildItem -Force -LiteralPath $_.FullName) } | Remove-Item
    if (-not (Get-ChildItem -Force -LiteralPath $Prefix)) { Remove-Item -LiteralPath $Prefix }
    Write-Host "locked is gone from $Prefix; its state and your settings stay"
    exit 0
}

MustFitPath $Prefix 'choose another -Prefix'
$stage = Join-Path ([IO.Path]::GetTempPath()) ("locked-install-" + [guid]::NewGuid())
New-Item -ItemType Directory $stage | Out-Null
try {
    if ($From) {
        if ($From -notlike 'https://*') { GiveUp '-From wants an https:// address' 'a file on this machine: -Archive FILE' }
        $Archive = Join-Path $stage (Split-Path -Leaf $From)
        Invoke-WebRequest -UseBasicParsing $From -OutFile $Archive
        if (-not $Sha256) { Invoke-WebRequest -UseBasicParsing "$From.sha256" -OutFile "$Archive.sha256" }
    }
    $tree = $root
    if ($Archive) {
        if (-not $Sha256) {
            if (-not (Test-Path "$Archive.sha256")) { GiveUp 'nothing says what digest the archive must have' 'say -Sha256 HEX' }
            $Sha256 = ((Get-Content "$Archive.sha256" -TotalCount 1) -split ' ')[0]
        }
        if ((Get-FileHash -Algorithm SHA256 $Archive).Hash -ne $Sha256) {
            GiveUp 'the archive is not what its digest says: it is incomplete, or somebody changed it' 'fetch it again'
        }
        Expand-Archive $Archive -DestinationPath (Join-Path $stage 'tree')
        $tree = (Get-ChildItem (Join-Path $stage 'tree') | Select-Object -First 1).FullName
        $Binary = Join-Path $tree 'locked.exe'
    } elseif (-not $Binary -and (Test-Path (Join-Path $root 'locked.exe'))) {
        $Binary = Join-Path $root 'locked.exe'
    } elseif (-not $Binary) {
        Push-Location $root
        try { cargo build --release --locked --bin locked } finally { Pop-Location }
        if ($LASTEXITCODE -ne 0) { GiveUp 'cargo could not build it' 'see above' }
        $Binary = Join-Path $root 'target\release\locked.exe'
    }
    & $Binary --version | Out-Null
    if ($LASTEXITCODE -ne 0) { GiveUp 'the binary does not run on this machine' 'build it here, from a checkout' }

    # First whether all of it can be.
    $target = Join-Path $Prefix 'bin\locked.exe'
    $before = if (Test-Path -LiteralPath $manifest) { @(Get-Content -LiteralPath $manifest) } else { @() }
    if ((Test-Path -LiteralPath $target) -and -not $Force) {
        $isListed = $before -contains "file $((Get-FileHash -Algorithm SHA256 -LiteralPath $target).Hash) $target"
        if (-not $isListed -and "$(& $target --version 2>$null)" -notmatch '^locked [0-9]') {
            GiveUp "somebody else's file is in the way, and stays: $target" 'choose another -Prefix, or replace it: -Force' 73
        }
    }
    $folder = ''
    if ($Shims -or $ModifyPath) {
        & $Binary shims path --help *> $null
        if ($LASTEXITCODE -eq 0) {
            $folder = (& $Binary shims path) -join "`n"
            if ($LASTEXITCODE -ne 0) { GiveUp 'locked names no folder for its shims' 'look at LOCKED_SHIMS_DIR' 78 }
            MustFitPath $folder 'name another in LOCKED_SHIMS_DIR'
        } elseif ($Shims) { GiveUp 'this version of locked has no shims' 'leave -Shims out' }
    }
    $profileFile = $PROFILE.CurrentUserAllHosts
    if ($ModifyPath) {
        if (Test-Path -PathType Container -LiteralPath $profileFile) {
            GiveUp "$profileFile is not a file that lines could be put into" 'move it away, or leave -ModifyPath out' 73
        }
        $found = ReadProfile $profileFile
        if ($found.Damaged) {
            GiveUp "$($found.Damaged[0]): lines about locked that lack their beginning or their end" 'take them out by hand' 65
        }
    }
    try { New-Item -ItemType Directory -Force $Prefix | Out-Null }
    catch { GiveUp "there can be no ${Prefix}: $($_.Exception.Message)" 'choose another -Prefix' 73 }

    $listed = @($before | Where-Object { $_ -like 'block *' -or $_ -like 'shims *' })
    function Place([string] $File, [string] $Where) {
        $target = Join-Path $Prefix $Where
        New-Item -ItemType Directory -Force (Split-Path -Parent $target) | Out-Null
        # A program that runs cannot be written over on Windows, and can be renamed.
        if (Test-Path -LiteralPath $target) { Move-Item -Force -LiteralPath $target "$target.old" }
        Copy-Item -LiteralPath $File $target
        Remove-Item -ErrorAction SilentlyContinue -LiteralPath "$target.old"
        return "file $((Get-FileHash -Algorithm SHA256 -LiteralPath $target).Hash) $target"
    }
    $listed += Place $Binary 'bin\locked.exe'
    foreach ($name in 'locked.toml', 'locked.schema.json', 'zones.toml') {
        $listed += Place (Join-Path $tree "install\$name") "examples\$name"
    }
    $listed += Place (Join-Path $tree 'LICENSE') 'LICENSE'
    $listed += Place (Join-Path $tree 'shims\shell\powershell.ps1') 'shell\powershell.ps1'

    $snippet = Join-Path $Prefix 'shell\powershell.ps1'
    $bin = Join-Path $Prefix 'bin'
    if ($ModifyPath) {
        $text = $found.Rest
        if ($text -and -not $text.EndsWith("`n")) { $text += "`n" }
        New-Item -ItemType Directory -Force (Split-Path -Parent $profileFile) | Out-Null
        $lines = "$begin, of $Prefix`n`$LockedBin = '$($bin -replace "'", "''")'`n"
        # What only this environment says, these shells say from now on as well.
        $name = if ($env:LOCKED_SHIMS_DIR) { 'LockedShimsDir' } else { 'LockedShims' }
        if ($folder) { $lines += "`$$name = '$($folder -replace "'", "''")'`n" }
        $lines += ". '$($snippet -replace "'", "''")'`n$end`n"
        [IO.File]::WriteAllText($profileFile, $text + $lines)
        $listed = @($listed | Where-Object { $_ -ne "block - $profileFile" }) + "block - $profileFile"
    } else {
        Write-Host "to put the shims first on PATH: install.ps1 -ModifyPath, or in your profile: . '$snippet'"
    }
    if ($Shims) { $listed = @($listed | Where-Object { $_ -ne "shims - $folder" }) + "shims - $folder" }
    Set-Content -LiteralPath $manifest $listed
    Write-Host "locked is in $bin"
    if ($Shims) { & (Join-Path $bin 'locked.exe') shims install }
} finally {
    Remove-Item -Recurse -Force $stage
}
