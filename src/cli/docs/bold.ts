export const bold = (text: string): string => `\x1b[1m${text}\x1b[22m`;

export const withoutBold = (text: string): string => text.replace(/\x1b\[(?:1|22)m/g, '');
