// SPDX-License-Identifier: GPL-2.0-only
/* Reno as RFC 2581 (1999) has it: the window grows by the number of acknowledgments, not of segments acknowledged.
 *
 * Linux counted so in 2010 (net.ipv4.tcp_abc was 0 by default), also in CUBIC's slow start. With clients that acknowledge every
 * second segment, a window grows by half in a round trip of slow start; today it doubles. Losses are found by three duplicate
 * acknowledgments or a timeout: tail-loss probes (2013) and RACK (2016) came later. The back-cast has such servers.
 */
#include <net/tcp.h>

#define PER_ACKNOWLEDGMENT 1u

static void rfc2581_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	tcp_reno_cong_avoid(sk, ack, min(acked, PER_ACKNOWLEDGMENT));
}

static struct tcp_congestion_ops tcp_rfc2581 __read_mostly = {
	.name		= "rfc2581",
	.owner		= THIS_MODULE,
	.flags		= TCP_CONG_BEFORE_RACK,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= rfc2581_cong_avoid,
};

static int __init rfc2581_register(void)
{
	return tcp_register_congestion_control(&tcp_rfc2581);
}
module_init(rfc2581_register);
