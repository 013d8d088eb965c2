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
.PARAMETER Uninstall
Takes away what this script put there.
#>
[CmdletBinding()]
param(
    [string] $Archive, [string] $From, [string] $Binary, [string] $Sha256,
    [string] $Prefix, [switch] $System, [switch] $Shims, [switch] $ModifyPath, [switch] $Uninstall
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$root = Split-Path -Parent $PSScriptRoot
$begin = '# >>> locked, by install.ps1 -ModifyPath >>>'
$end = '# <<< locked <<<'

function GiveUp([string] $What, [string] $Next) {
    [Console]::Error.WriteLine("install: $What")
    [Console]::Error.WriteLine("next:  $Next")
    exit 69
}

if (-not $Prefix) {
    $base = if ($System) { $env:ProgramFiles } else { Join-Path $env:LOCALAPPDATA 'Programs' }
    $Prefix = Join-Path $base 'locked'
}
$manifest = Join-Path $Prefix 'manifest'

# The profile without our lines.
function WithoutBlock([string] $Text) {
    $pattern = '(?s)' + [regex]::Escape($begin) + '.*?' + [regex]::Escape($end) + '\r?\n?'
    return [regex]::Replace($Text, $pattern, '')
}

if ($Uninstall) {
    if (-not (Test-Path $manifest)) { GiveUp "nothing was installed in $Prefix" 'install.ps1 -Uninstall -Prefix DIR' }
    $locked = Join-Path $Prefix 'bin\locked.exe'
    & $locked shims remove --help *> $null
    if ($LASTEXITCODE -eq 0) { & $locked shims remove --all }
    foreach ($line in Get-Content $manifest) {
        $kind, $digest, $path = $line -split ' ', 3
        if ($kind -eq 'block' -and (Test-Path $path)) {
            [IO.File]::WriteAllText($path, (WithoutBlock ([IO.File]::ReadAllText($path))))
        } elseif ($kind -eq 'file' -and (Test-Path $path)) {
            if ((Get-FileHash -Algorithm SHA256 $path).Hash -eq $digest) { Remove-Item $path }
            else { Write-Warning "it was changed since, and stays: $path" }
        }
    }
    Remove-Item $manifest
    # Only directories that are empty now.
    Get-ChildItem -Recurse -Directory $Prefix | Sort-Object -Descending { $_.FullName.Length } |
        Where-Object { -not (Get-ChildItem $_.FullName) } | Remove-Item
    if (-not (Get-ChildItem $Prefix)) { Remove-Item $Prefix }
    Write-Host "locked is gone from $Prefix; its state and your settings stay"
    exit 0
}

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

    $listed = @()
    if (Test-Path $manifest) { $listed = @(Get-Content $manifest | Where-Object { $_ -like 'block *' }) }
    function Place([string] $File, [string] $Where) {
        $target = Join-Path $Prefix $Where
        New-Item -ItemType Directory -Force (Split-Path -Parent $target) | Out-Null
        # A program that runs cannot be written over on Windows, and can be renamed.
        if (Test-Path $target) { Move-Item -Force $target "$target.old" }
        Copy-Item $File $target
        Remove-Item -ErrorAction SilentlyContinue "$target.old"
        return "file $((Get-FileHash -Algorithm SHA256 $target).Hash) $target"
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
        $profileFile = $PROFILE.CurrentUserAllHosts
        $before = if (Test-Path $profileFile) { WithoutBlock ([IO.File]::ReadAllText($profileFile)) } else { '' }
        if ($before -and -not $before.EndsWith("`n")) { $before += "`n" }
        New-Item -ItemType Directory -Force (Split-Path -Parent $profileFile) | Out-Null
        $lines = "$begin`n`$LockedBin = '$($bin -replace "'", "''")'`n. '$($snippet -replace "'", "''")'`n$end`n"
        [IO.File]::WriteAllText($profileFile, $before + $lines)
        $listed = @($listed | Where-Object { $_ -ne "block - $profileFile" }) + "block - $profileFile"
    } else {
        Write-Host "to put the shims first on PATH: install.ps1 -ModifyPath, or in your profile: . '$snippet'"
    }
    Set-Content $manifest $listed
    Write-Host "locked is in $bin"
    if ($Shims) {
        & (Join-Path $bin 'locked.exe') shims install --help *> $null
        if ($LASTEXITCODE -ne 0) { GiveUp 'this version of locked has no shims' 'leave -Shims out' }
        & (Join-Path $bin 'locked.exe') shims install
    }
} finally {
    Remove-Item -Recurse -Force $stage
}
