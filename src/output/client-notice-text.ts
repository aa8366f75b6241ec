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
      return `lost ${notice.answers > 1 ? countText(notice.answers, 'answer') : 'the answer'} of ${notice.endpoint}: up to ${unitsText(notice.cuAtMost)} may have been charged`;
    case 'difference':
      return `the answer of ${notice.call} differs from the service description: ${differenceText(notice.difference)}`;
    case 'trace':
      return safeLine(notice.line);
  }
}
