import { kindOf } from '../../support/debian.ts';

const version = /^(?:prometheus|promtool), version (\d+[\d.]*)/m;

export const promtool = kindOf('promtool', 'usr/bin/promtool', '--version', version, 'prometheus');
export const prometheus = kindOf('prometheus', 'usr/bin/prometheus', '--version', version);
