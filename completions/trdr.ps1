# Completion of trdr for PowerShell, made from its commands:
# trdr completion powershell | Out-String | Invoke-Expression

$script:TrdrValued = @('--wait', '--file', '--column', '--color', '--profile', '--output', '-o', '--fields', '--out', '--base-url', '--retries', '--timeout', '--max-cu', '--as', '--max-age', '--window', '--sort', '--token', '--user', '--limit', '--since', '--until', '--before', '--symbol', '--min-holdings', '--grep', '--via', '--lag', '--backfill', '--count', '--duration', '--checkpoint', '--min-units', '--min-reveals', '--coin', '--wallet', '--period', '--at', '--compare', '--by', '--field', '-f', '--input', '--port', '--seed', '--plan', '--rate', '--envelope', '--page', '--faults', '--replay', '--speed', '--data', '--theses', '--traders', '--units-used')

# For each command: its next words, flags with what their values can be, and its arguments. @ and a kind
# stands for names that only this machine knows.
$script:TrdrCommands = @{
    '' = @{
        Words = @{ 'api' = 'Call any API endpoint and print the raw response'; 'auth' = 'Manage keys and profiles'; 'cache' = 'Manage cached answers'; 'completion' = 'Print the completion script for a shell'; 'config' = 'Manage settings'; 'doctor' = 'Check settings, key, connection, limits and API changes'; 'help' = 'Show help for a command or a topic'; 'launchpad' = 'Look up launchpad accounts, callouts and the leaderboard'; 'me' = 'Show plan, limits, usage and remaining allowance (free)'; 'pnl' = 'Show traders'' cash flow, return, volume, trades and rank'; 'price' = 'Show the price list in compute units (CU)'; 'resolve' = 'Resolve a handle to its wallet, searching live if none is on record'; 'sandbox' = 'Run the embedded service on localhost'; 'schema' = 'Describe a command''s records, flags and prices as JSON'; 'thesis' = 'List or stream theses'; 'usage' = 'Show what this machine has spent (from the local ledger)'; 'version' = 'Print the version'; 'whois' = 'Look up who is behind a handle, a wallet or a user id' }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'thesis' = @{
        Words = @{ 'list' = 'List theses, newest first'; 'tail' = 'Stream theses as they are posted, each exactly once' }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'launchpad' = @{
        Words = @{ 'board' = 'Show the top 100 launchpad traders by PnL'; 'callouts' = 'List coins called out on the launchpad, newest first'; 'tail' = 'Stream callouts as they are posted, each exactly once'; 'user' = 'Look up the launchpad account of a wallet' }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'cache' = @{
        Words = @{ 'clear' = 'Clear the cache for the current key'; 'stats' = 'Show cache statistics' }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'auth' = @{
        Words = @{ 'login' = 'Verify an API key and save it to a profile'; 'logout' = 'Remove the key of a profile'; 'status' = 'Show all profiles with base URL, masked key and their origin'; 'switch' = 'Switch to another profile' }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'config' = @{
        Words = @{ 'get' = 'Show the effective value of a setting'; 'list' = 'Show the effective settings'; 'path' = 'Print the path of the config file'; 'set' = 'Change a setting of a profile'; 'unset' = 'Reset a setting to its default' }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'resolve' = @{
        Words = @{  }
        Flags = @{ '--direct' = ''; '--wait' = ''; '--no-wait' = ''; '--file' = '@file'; '--column' = ''; '--strict' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @('@handle')
        Variadic = $true
    }
    'whois' = @{
        Words = @{  }
        Flags = @{ '--as' = 'handle wallet id'; '--file' = '@file'; '--column' = ''; '--strict' = ''; '--max-age' = ''; '--no-cache' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @('@handle')
        Variadic = $true
    }
    'pnl' = @{
        Words = @{  }
        Flags = @{ '--window' = '24h 7d 30d all'; '--sort' = 'netUsd returnPct volumeUsd trades rank'; '--resume' = ''; '--file' = '@file'; '--column' = ''; '--strict' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @('@handle')
        Variadic = $true
    }
    'thesis list' = @{
        Words = @{  }
        Flags = @{ '--token' = '@token'; '--user' = '@handle'; '--limit' = ''; '--all' = ''; '--since' = ''; '--until' = ''; '--before' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'thesis tail' = @{
        Words = @{  }
        Flags = @{ '--token' = '@token'; '--user' = '@handle'; '--symbol' = ''; '--min-holdings' = ''; '--dev-only' = ''; '--grep' = ''; '--via' = 'auto ws poll'; '--lag' = ''; '--backfill' = ''; '--since' = ''; '--count' = ''; '--duration' = ''; '--checkpoint' = '@file'; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'me' = @{
        Words = @{  }
        Flags = @{ '--min-units' = ''; '--min-reveals' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = '' }
        Args = @()
        Variadic = $false
    }
    'price' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = '' }
        Args = @('user.handle user.wallet user.id user.resolve user.pnl users.pnl thesis.all thesis.token thesis.user thesis.userToken launchpad.user launchpad.callouts launchpad.callouts.coin launchpad.callouts.wallet launchpad.board me ws')
        Variadic = $false
    }
    'launchpad user' = @{
        Words = @{  }
        Flags = @{ '--file' = '@file'; '--column' = ''; '--strict' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @('')
        Variadic = $true
    }
    'launchpad callouts' = @{
        Words = @{  }
        Flags = @{ '--coin' = '@token'; '--wallet' = ''; '--limit' = ''; '--all' = ''; '--since' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'launchpad board' = @{
        Words = @{  }
        Flags = @{ '--period' = 'daily weekly monthly'; '--at' = ''; '--compare' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'doctor' = @{
        Words = @{  }
        Flags = @{ '--ws' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'schema' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = '' }
        Args = @('resolve whois pnl thesis list tail me price launchpad user callouts board doctor schema completion usage cache stats clear auth login status switch logout config get set unset path api help version sandbox')
        Variadic = $true
    }
    'completion' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @('bash zsh fish powershell')
        Variadic = $false
    }
    'usage' = @{
        Words = @{  }
        Flags = @{ '--since' = ''; '--by' = 'command endpoint day profile'; '--reconcile' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = '' }
        Args = @()
        Variadic = $false
    }
    'cache stats' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = '' }
        Args = @()
        Variadic = $false
    }
    'cache clear' = @{
        Words = @{  }
        Flags = @{ '--all' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @()
        Variadic = $false
    }
    'auth login' = @{
        Words = @{  }
        Flags = @{ '--with-key' = ''; '--no-verify' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = '' }
        Args = @()
        Variadic = $false
    }
    'auth status' = @{
        Words = @{  }
        Flags = @{ '--check' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = '' }
        Args = @()
        Variadic = $false
    }
    'auth switch' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @('@profile')
        Variadic = $false
    }
    'auth logout' = @{
        Words = @{  }
        Flags = @{ '--forget' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @('@profile')
        Variadic = $false
    }
    'config list' = @{
        Words = @{  }
        Flags = @{ '--origin' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = '' }
        Args = @()
        Variadic = $false
    }
    'config get' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = '' }
        Args = @('profile key baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress storePassword')
        Variadic = $false
    }
    'config set' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @('baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress', '')
        Variadic = $false
    }
    'config unset' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @('baseUrl output color utc confirmAbove maxCu maxAge retries timeout socketShare insecureHttp store storeCa storePrefix storeAway storePlain machine egress')
        Variadic = $false
    }
    'config path' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @()
        Variadic = $false
    }
    'api' = @{
        Words = @{  }
        Flags = @{ '--field' = ''; '-f' = ''; '--input' = '@file'; '--include' = ''; '-i' = ''; '--paginate' = ''; '--out' = '@file'; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @('GET POST', '')
        Variadic = $false
    }
    'launchpad tail' = @{
        Words = @{  }
        Flags = @{ '--coin' = '@token'; '--wallet' = ''; '--lag' = ''; '--backfill' = ''; '--since' = ''; '--count' = ''; '--duration' = ''; '--checkpoint' = '@file'; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = ''; '--output' = 'table ndjson json csv'; '-o' = 'table ndjson json csv'; '--json' = ''; '--fields' = ''; '--out' = '@file'; '--utc' = ''; '--base-url' = ''; '--dry-run' = ''; '--retries' = ''; '--timeout' = ''; '--insecure-http' = ''; '--max-cu' = ''; '--yes' = ''; '-y' = '' }
        Args = @()
        Variadic = $false
    }
    'help' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @('')
        Variadic = $true
    }
    'version' = @{
        Words = @{  }
        Flags = @{ '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @()
        Variadic = $false
    }
    'sandbox' = @{
        Words = @{  }
        Flags = @{ '--port' = ''; '--seed' = ''; '--plan' = 'explore starter builder growth scale enterprise legacy'; '--rate' = ''; '--envelope' = 'bare wrapped'; '--page' = 'full capped'; '--faults' = ''; '--replay' = '@file'; '--speed' = ''; '--data' = '@file'; '--theses' = ''; '--traders' = ''; '--socials' = ''; '--units-used' = ''; '--unmetered' = ''; '--help' = ''; '-h' = ''; '--quiet' = ''; '-q' = ''; '--debug' = ''; '--color' = 'auto always never'; '--profile' = '@profile'; '--sandbox' = '' }
        Args = @()
        Variadic = $false
    }
}

Register-ArgumentCompleter -Native -CommandName trdr -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $path = ''
    $place = 0
    $flag = ''
    $flags = $true
    $more = @()
    $self = $commandAst.CommandElements[0].Extent.Text
    foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
        if ($element.Extent.EndOffset -ge $cursorPosition) { break }
        $word = $element.Extent.Text.Trim("'", '"')
        $longer = "$path $word".Trim()
        if ($flag) {
            if ($flag -ceq '--profile') { $more += '--profile', $word }
            $flag = ''
        } elseif ($flags -and $word -ceq '--') {
            $flags = $false
        } elseif ($flags -and $word.StartsWith('-') -and $word.Length -gt 1) {
            if ($word -ceq '--sandbox') { $more += '--sandbox' }
            if ($word.StartsWith('--profile=')) { $more += '--profile', $word.Substring(10) }
            if ($script:TrdrValued -ccontains $word) { $flag = $word }
        } elseif ($place -eq 0 -and $script:TrdrCommands.ContainsKey($longer)) {
            $path = $longer
        } else {
            $place++
        }
    }

    $node = $script:TrdrCommands[$path]
    $lead = ''
    $typed = $wordToComplete
    $offers = @()
    if (-not $flag -and $flags -and $typed -match '^(--[a-z-]+)=(.*)$') {
        $flag = $Matches[1]
        $typed = $Matches[2]
        $lead = "$flag="
    }
    if ($flag) {
        $kind = $node.Flags[$flag]
    } elseif ($flags -and $typed.StartsWith('-')) {
        $kind = ''
        $offers = @($node.Flags.Keys)
    } elseif ($node.Words.Count -gt 0) {
        $kind = ''
        if ($place -eq 0) { $offers = @($node.Words.Keys) }
    } else {
        $kind = ''
        if ($place -lt $node.Args.Count) { $kind = $node.Args[$place] }
        elseif ($node.Variadic -and $node.Args.Count -gt 0) { $kind = $node.Args[-1] }
    }
    # Nothing: PowerShell completes files by itself.
    if ($kind -eq '@file') { return }
    if ($kind -and $kind.StartsWith('@')) {
        $offers = @(& $self __complete $kind.Substring(1) $typed @more 2>$null)
    } elseif ($kind) {
        $offers = $kind -split ' '
    }
    $offers | Where-Object { $_ -and $_.StartsWith($typed, [StringComparison]::OrdinalIgnoreCase) } | Sort-Object |
        ForEach-Object {
            $help = if ($node.Words.Contains($_)) { $node.Words[$_] } else { $_ }
            [System.Management.Automation.CompletionResult]::new("$lead$_", $_, 'ParameterValue', $help)
        }
}
