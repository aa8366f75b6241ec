import { type FlagOutline, type Outline, type Slot, slotText, wordsUnder } from './outline.ts';

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Completion for PowerShell, from 5.1 on. */
export function powershellScript(outline: Outline): string {
  const { commands, groups, leading, valued } = outline;
  const nodes = [
    ...['', ...groups.map(({ path }) => path)].map((path) => ({
      path,
      flags: leading,
      args: [],
      variadic: false,
    })),
    ...commands,
  ];
  return `# Completion of trdr for PowerShell, made from its commands:
# trdr completion powershell | Out-String | Invoke-Expression

$script:TrdrValued = @(${valued.map(quoted).join(', ')})

# For each command: its next words, flags with what their values can be, and its arguments. @ and a kind
# stands for names that only this machine knows.
$script:TrdrCommands = @{
${nodes.map((node) => entry(node, outline)).join('\n')}
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
`;
}

interface Node {
  readonly path: string;
  readonly flags: readonly FlagOutline[];
  readonly args: readonly Slot[];
  readonly variadic: boolean;
}

function entry({ path, flags, args, variadic }: Node, outline: Outline): string {
  const words = wordsUnder(outline, path).map(({ word, summary }) => `${quoted(word)} = ${quoted(summary)}`);
  const pairs = flags.flatMap(({ names, slot }) =>
    names.map((name) => `${quoted(name)} = ${quoted(slot ? slotText(slot, outline) : '')}`),
  );
  const places = args.map((slot) => quoted(slotText(slot, outline)));
  return `    ${quoted(path)} = @{
        Words = @{ ${words.join('; ')} }
        Flags = @{ ${pairs.join('; ')} }
        Args = @(${places.join(', ')})
        Variadic = $${variadic}
    }`;
}
