// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"encoding/base64"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/smithy-go"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// hostsOfAWS matches private registries: account.dkr.ecr.region.amazonaws.com, with the variants for FIPS, IPv6 and
// the partitions of AWS. The region follows -fips.
const hostsOfAWS = `^[0-9]{12}\.dkr[.-]ecr(-fips)?\.([a-z]+(?:-[a-z]+)+-[0-9]+)\.` +
	`(?:amazonaws\.com|amazonaws\.com\.cn|amazonaws\.eu|on\.aws|on\.amazonwebservices\.com\.cn)$`

func newAWS() *identity { return newIdentity("aws", hostsOfAWS, loginToECR, explainAWS) }

// loginToECR requests a token from ECR, in the role of the process.
func loginToECR(ctx context.Context, host string) (login, error) {
	parts := regexp.MustCompile(hostsOfAWS).FindStringSubmatch(host)
	if parts == nil {
		return login{}, errors.New("the host name contains no region")
	}
	options := []func(*config.LoadOptions) error{config.WithRegion(parts[2])}
	if parts[1] != "" {
		options = append(options, config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return login{}, err
	}
	out, err := ecr.NewFromConfig(c).GetAuthorizationToken(ctx, &ecr.GetAuthorizationTokenInput{})
	if err != nil {
		return login{}, err
	}
	if len(out.AuthorizationData) == 0 {
		return login{}, errors.New("ECR returned no token")
	}
	token, err := base64.StdEncoding.DecodeString(aws.ToString(out.AuthorizationData[0].AuthorizationToken))
	user, password, ok := strings.Cut(string(token), ":")
	if err != nil || !ok {
		return login{}, errors.New("ECR returned a malformed token")
	}
	expires := time.Now()
	if at := out.AuthorizationData[0].ExpiresAt; at != nil {
		expires = *at
	}
	return login{user: user, password: password, expires: expires}, nil
}

// explainAWS returns the message of err without request IDs.
func explainAWS(err error) string {
	var answer smithy.APIError
	if errors.As(err, &answer) {
		return answer.ErrorCode() + ": " + answer.ErrorMessage()
	}
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		return explainURL(operation.Err)
	}
	return explainURL(err)
}
