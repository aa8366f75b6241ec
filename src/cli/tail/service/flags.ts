import { positiveDuration } from '../../../base/time-values.ts';
import { oneOf } from '../../../base/values.ts';
import { type GivenFlags, value, valueOr } from '../../args/option.ts';
import { statusFile } from '../../args/values.ts';

export const serviceOptions = {
  status: value('--status', 'write the state to FILE as metrics for Prometheus', statusFile),
  heartbeat: value('--heartbeat', 'report the state on stderr this often', positiveDuration),
  logFormat: valueOr('--log-format', 'format of the lines on stderr', oneOf('text', 'json'), 'text'),
};

export type ServiceFlags = Omit<GivenFlags<typeof serviceOptions>, 'logFormat'>;
