# The names of the old helper, over `locked`. In place of dot-sourcing that:
#
#   Import-Module ./EnvLock.psm1 -DisableNameChecking
#   Acquire-EnvLock -Resource 'sops:monitoring' -Operation 'credential-rotation'
#   Update-EnvLockHeartbeat -Resource 'sops:monitoring'
#   Get-EnvLocks
#   Release-EnvLock -Resource 'sops:monitoring'
#
# Every function throws with the words of `locked` when it refuses; $LASTEXITCODE is its status then: 75 when somebody else
# holds it, 77 when this session does not, 69 when the store cannot be reached. $env:LOCKED names another program than the
# `locked` on PATH. No -SessionId is needed: every command of one agent or terminal is one session, and
# $env:P24_ENV_LOCK_SESSION_ID pins one.

Set-StrictMode -Version 3.0

# Runs `locked`; its answer, one string. What it says besides (a word that somebody left) is a warning.
function Invoke-Locked {
    param([string[]] $Arguments)
    # A line on standard error is no error of this shell's.
    $ErrorActionPreference = 'Continue'
    $PSNativeCommandUseErrorActionPreference = $false
    $program = if ($env:LOCKED) { $env:LOCKED } else { 'locked' }
    $said = @(& $program @Arguments 2>&1)
    $status = $LASTEXITCODE
    $words = @($said | Where-Object { $_ -is [System.Management.Automation.ErrorRecord] } | ForEach-Object { "$_" })
    $answer = @($said | Where-Object { $_ -isnot [System.Management.Automation.ErrorRecord] } | ForEach-Object { "$_" })
    if ($status -ne 0) {
        throw ((@($words) + @($answer)) -join "`n")
    }
    foreach ($word in $words) {
        Write-Warning $word
    }
    $answer -join "`n"
}

# The session's option, where one was named.
function Get-SessionArgument {
    param([string] $SessionId)
    if ($SessionId) { @('--session', $SessionId) } else { @() }
}

function Acquire-EnvLock {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Resource,
        [string] $Operation = 'env-lock',
        [int] $TtlMinutes = 30,
        [string] $SessionId
    )
    $arguments = @(Get-SessionArgument $SessionId) + @('acquire', '--operation', $Operation, '--ttl', "${TtlMinutes}m", $Resource)
    Invoke-Locked $arguments
}

function Release-EnvLock {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Resource,
        [string] $SessionId
    )
    Invoke-Locked (@(Get-SessionArgument $SessionId) + @('release', $Resource)) | Out-Null
}

function Update-EnvLockHeartbeat {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Resource,
        [string] $SessionId
    )
    Invoke-Locked (@(Get-SessionArgument $SessionId) + @('renew', $Resource)) | Out-Null
}

# Resource, Holder (the first eight digits), Operation, Acquired, Expires, Expired, and State.
function Get-EnvLocks {
    [CmdletBinding()]
    param([string] $Resource)
    $arguments = @('status', '--json')
    if ($Resource) { $arguments += $Resource }
    $epoch = [DateTime]::new(1970, 1, 1, 0, 0, 0, [DateTimeKind]::Utc)
    # Through a variable: Windows PowerShell passes an array of JSON on as one object.
    $leases = Invoke-Locked $arguments | ConvertFrom-Json
    foreach ($lease in $leases) {
        [pscustomobject]@{
            Resource  = $lease.resource
            Holder    = $lease.holder
            Operation = $lease.operation
            Acquired  = $epoch.AddMilliseconds($lease.acquired_at).ToLocalTime()
            Expires   = if ($null -ne $lease.expires_at) { $epoch.AddMilliseconds($lease.expires_at).ToLocalTime() }
            Expired   = if ($lease.state -eq 'expired') { 'YES' } else { 'NO' }
            State     = $lease.state
        }
    }
}

Export-ModuleMember -Function @('Acquire-EnvLock', 'Release-EnvLock', 'Update-EnvLockHeartbeat', 'Get-EnvLocks')
