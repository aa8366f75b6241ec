import { countText, unitsText } from '../base/units.ts';
import type { Notice } from '../contract/ports/client.ts';
import { differenceText } from '../contract/read-record.ts';
import { span } from './format/time.ts';
import { safeLine } from './terminal/safe-text.ts';

export function noticeText(notice: Notice): string {
  switch (notice.kind) {
    case 'wait':
      return `waiting ${span(notice.ms)}: ${safeLine(notice.reason)}`;
    case 'retry':
      return `retrying (${notice.attempt} of ${notice.of}) in ${span(notice.ms)}: ${safeLine(notice.reason)}`;
    case 'lost':
      return lostText(notice.endpoint, notice.answers, notice.cuAtMost);
    case 'difference':
      return `the answer of ${notice.call} differs from the service description: ${differenceText(notice.difference)}`;
  }
}

function lostText(endpoint: string, answers: number, cuAtMost: number): string {
  const many = answers > 1 ? countText(answers, 'answer') : 'the answer';
  return `lost ${many} of ${endpoint}: up to ${unitsText(cuAtMost)} may have been charged`;
}
