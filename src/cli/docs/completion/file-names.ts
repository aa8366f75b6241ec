export const completionFiles = {
  bash: 'trdr.bash',
  zsh: 'trdr.zsh',
  fish: 'trdr.fish',
  powershell: 'trdr.ps1',
} as const;
