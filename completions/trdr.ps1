# Completion of trdr for PowerShell 5.1 and newer. Add to $PROFILE:
# trdr completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName trdr -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $self = $commandAst.CommandElements[0].Extent.Text
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    $line = $commandAst.Extent.Text.PadRight($length).Substring(0, $length)
    foreach ($found in @(& $self __complete line $line 2>$null)) {
        # If it gets no candidates, PowerShell completes file names.
        if ($found.StartsWith(':')) { continue }
        $word, $about = $found -split "`t", 2
        if (-not $about) { $about = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
    }
}
